import type { Entry } from "../../registry/index/entry.ts";
import { type Lang, layerPath } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/names.ts";
import { findLayer } from "../catalogue/find-layer.ts";
import { type Drawable, parseFragment } from "../map/drawable.ts";
import type { State } from "./address.ts";
import { bothLanguages } from "./both-languages.ts";
import { copyBox, copyButton } from "./copy.ts";
import { breakable, fill, h } from "./dom.ts";
import { MapPanel } from "./map-panel.ts";
import { type Page, readFile, stateLink, stateText, typeText, type View } from "./page.ts";

/** Targets whose fragments say how a layer is drawn, the most telling first. */
const drawnTargets: readonly TargetName[] = ["v0.9", "v1", "v2"];

/** Where one fragment of a target is. */
function docPath(target: TargetName, lang: Lang, smallkey: string): string {
	const folder = target === "ramp4" ? target : `${target}/doc`;
	return `${folder}/${lang}/${encodeURIComponent(smallkey)}`;
}

/** One layer: its map, both languages side by side, its health, its last change, and how it is read. */
export class LayerView implements View {
	readonly #page: Page;
	readonly #smallkey: string;
	readonly #back = h("p", { class: "back" });
	/** It stays the same element, since it has the focus. */
	readonly #heading = h("h1", { tabindex: "-1" });
	readonly #head = h("div");
	readonly #body = h("div", { class: "layerbody" });
	readonly element: HTMLElement;
	#title: string;
	#map: MapPanel | null = null;
	#isClosed = false;

	constructor(page: Page, smallkey: string) {
		this.#page = page;
		this.#smallkey = smallkey;
		this.#title = smallkey;
		const head = h("header", { class: "layerhead" }, this.#heading, this.#head);
		this.element = h("article", { class: "layer" }, this.#back, head, this.#body);
		fill(this.#heading, smallkey);
		this.element.setAttribute("aria-busy", "true");
		void this.#load();
	}

	title(): string {
		return this.#title;
	}

	update(state: State): void {
		const { texts } = this.#page;
		fill(
			this.#back,
			stateLink(
				this.#page,
				{ ...state, layer: null },
				h("span", { "aria-hidden": "true" }, "← "),
				texts.back,
			),
		);
	}

	close(): void {
		this.#isClosed = true;
		this.#map?.close();
	}

	async #load(): Promise<void> {
		const [entry, en, fr] = await Promise.all([
			findLayer(this.#page.pieces, this.#smallkey).catch(() => null),
			this.#readFragment("en"),
			this.#readFragment("fr"),
		]);
		if (this.#isClosed) return;
		this.element.removeAttribute("aria-busy");
		const drawables = { en, fr };
		if (!entry && !en && !fr) return this.#missing();
		const { lang } = this.#page;
		this.#title = drawables[lang]?.title || entry?.title[lang] || this.#smallkey;
		this.#showHead(entry, drawables);
		this.#showBody(entry, drawables);
		this.#page.go(this.#page.state(), true);
	}

	#missing(): void {
		fill(this.#heading, this.#page.texts.layerMissing(this.#smallkey));
	}

	async #readFragment(lang: Lang): Promise<Drawable | null> {
		for (const target of drawnTargets.filter((one) => this.#page.settings.targets.includes(one))) {
			const text = await readFile(this.#page.root, docPath(target, lang, this.#smallkey)).catch(() => null);
			const drawable = text === null ? null : parseFragment(target, text);
			if (drawable) return drawable;
		}
		return null;
	}

	#showHead(entry: Entry | null, drawables: Record<Lang, Drawable | null>): void {
		const { lang, texts } = this.#page;
		const other = lang === "en" ? "fr" : "en";
		const second = drawables[other]?.title ?? entry?.title[other] ?? "";
		fill(this.#heading, breakable(this.#title));
		fill(
			this.#head,
			second !== this.#title && second !== "" && h("p", { class: "second", lang: other }, breakable(second)),
			h(
				"p",
				{ class: "facts" },
				h("code", {}, this.#smallkey),
				copyButton(texts, texts.copySmallkey, () => this.#smallkey),
				entry && h("span", {}, typeText(texts, entry.type)),
				entry?.health && h("span", { class: "badge" }, stateText(texts, entry.health.state)),
			),
		);
	}

	#showBody(entry: Entry | null, drawables: Record<Lang, Drawable | null>): void {
		const { texts } = this.#page;
		this.#map = new MapPanel(this.#page, drawables);
		fill(
			this.#body,
			this.#map.element,
			h(
				"div",
				{ class: "aside" },
				h("section", {}, h("h2", {}, texts.both), bothLanguages(this.#page, drawables)),
				h("section", {}, h("h2", {}, texts.health), this.#healthText(entry)),
				h("section", {}, h("h2", {}, texts.lastChange), this.#changeText(entry)),
			),
			h(
				"section",
				{ class: "wide" },
				h("h2", {}, texts.reading),
				h("div", { class: "copies" }, this.#copies()),
			),
		);
		this.#map.open();
	}

	#healthText(entry: Entry | null): HTMLElement {
		const { texts } = this.#page;
		if (!entry?.health) return h("p", {}, texts.healthy);
		const { state, since } = entry.health;
		return h(
			"p",
			{},
			h("strong", { class: "bad" }, stateText(texts, state)),
			since && `, ${texts.since(since)}`,
		);
	}

	#changeText(entry: Entry | null): HTMLElement {
		const { texts, settings, lang } = this.#page;
		if (!entry?.changed) return h("p", {}, texts.changedUnknown);
		const { commit, date } = entry.changed;
		const day = new Date(date).toLocaleDateString(`${lang}-CA`, { dateStyle: "long", timeZone: "UTC" });
		const history = `${settings.repository}/commits/${settings.branch}/${layerPath(this.#smallkey)}`;
		return h(
			"p",
			{},
			h("time", { datetime: date }, texts.changedOn(day, commit.slice(0, 7))),
			settings.repository !== "" && h("span", {}, ", ", h("a", { href: history }, texts.history)),
			entry.sender && h("span", { class: "block" }, `${texts.senderField}: ${entry.sender}`),
		);
	}

	/** The layer as each reader is told of it. */
	#copies(): HTMLElement[] {
		const { texts, settings, root, lang } = this.#page;
		const key = this.#smallkey;
		const address = (target: TargetName) => new URL(docPath(target, lang, key), root).href;
		const boxes: HTMLElement[] = [];
		const add = (target: TargetName, name: string, text: string) => {
			if (settings.targets.includes(target)) boxes.push(copyBox(texts, name, text));
		};
		add("v0.9", texts.copyKeys, key);
		add("v0.9", texts.copyV09, address("v0.9"));
		add("v2", texts.copyV2, address("v2"));
		const geoView = {
			map: { listOfGeoviewLayerConfig: [{ geoviewLayerType: "geoCore", geoviewLayerId: key }] },
			serviceUrls: { rcsUrl: new URL("v2/docs/", root).href },
		};
		add("v2", texts.copyGeoView, JSON.stringify(geoView, null, 2));
		if (settings.targets.includes("ramp4")) boxes.push(this.#ramp4(address("ramp4")));
		const first = drawnTargets.find((target) => settings.targets.includes(target)) ?? "ramp4";
		boxes.push(copyBox(texts, texts.copyCurl, `curl --fail --compressed '${address(first)}'`));
		return boxes;
	}

	/** RAMP4 reads a layer of its own configuration: what is copied is the fragment itself. */
	#ramp4(address: string): HTMLElement {
		const { texts, root, lang } = this.#page;
		const place = h("div", {}, copyBox(texts, texts.copyRamp4, address));
		void readFile(root, docPath("ramp4", lang, this.#smallkey))
			.then((text) => {
				const shown = text === null ? texts.notThere : JSON.stringify(JSON.parse(text), null, 2);
				fill(place, copyBox(texts, texts.copyRamp4, shown));
			})
			.catch(() => undefined);
		return place;
	}
}
