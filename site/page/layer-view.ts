import type { Entry } from "../../registry/entries.ts";
import { type Lang, layerPath } from "../../registry/smallkey.ts";
import { snippetsOf } from "../../registry/snippets.ts";
import type { Drawable } from "../map/drawable.ts";
import { type CatalogueProblem, CatalogueUnusable } from "../search/catalogue.ts";
import { senderOf } from "../search/entry.ts";
import type { State } from "./address.ts";
import { bothLanguages } from "./both-languages.ts";
import { copyBox, copyButton } from "./copy.ts";
import { breakable, fill, h } from "./dom.ts";
import { docPath, lookButton, readDrawable } from "./drawables.ts";
import { causeText } from "./health-view.ts";
import { MapPanel } from "./map-panel.ts";
import {
	dayText,
	type Page,
	problemBox,
	readFile,
	stateLink,
	stateText,
	typeText,
	type View,
	weekText,
} from "./page.ts";

/** One layer: its map, both languages side by side, its health, its last change, and how it is read. */
export class LayerView implements View {
	readonly #page: Page;
	readonly #smallkey: string;
	readonly #back = h("p", { class: "back" });
	/** It stays the same element, since it has the focus. */
	readonly #heading = h("h1", { tabindex: "-1" });
	readonly #head = h("div");
	readonly #problems = h("div");
	readonly #body = h("div", { class: "layerbody" });
	readonly element: HTMLElement;
	#title: string;
	#map: MapPanel | null = null;
	/** Ends what is being read once another view is shown. */
	readonly #under = new AbortController();

	constructor(page: Page, smallkey: string) {
		this.#page = page;
		this.#smallkey = smallkey;
		this.#title = smallkey;
		const head = h("header", { class: "layerhead" }, this.#heading, this.#head);
		this.element = h("article", { class: "layer" }, this.#back, head, this.#problems, this.#body);
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
		this.#under.abort();
		this.#map?.close();
	}

	async #load(): Promise<void> {
		const { lang, catalogue, texts } = this.#page;
		const problems: CatalogueProblem[] = [];
		const note = (error: unknown) => {
			problems.push(error instanceof CatalogueUnusable ? error.problem : { kind: "network" });
			return null;
		};
		const read = (one: Lang) => readDrawable(this.#page, this.#smallkey, one, this.#under.signal, note);
		const [entry, en, fr] = await Promise.all([
			catalogue.find(this.#smallkey).catch(note),
			read("en"),
			read("fr"),
		]);
		if (this.#under.signal.aborted) return;
		this.element.removeAttribute("aria-busy");
		fill(
			this.#problems,
			problemBox(texts, problems, () => {
				catalogue.renew();
				void this.#load();
			}),
		);
		const drawables = { en, fr };
		if (!entry && !en && !fr) return problems.length > 0 ? undefined : this.#missing();
		this.#title = drawables[lang]?.title || entry?.title[lang] || this.#smallkey;
		this.#showHead(entry, drawables);
		this.#showBody(entry, drawables);
		this.#page.go(this.#page.state(), true);
	}

	#missing(): void {
		const { texts } = this.#page;
		fill(this.#heading, texts.layerMissing(this.#smallkey));
		const state: State = { ...this.#page.state(), layer: null, text: this.#smallkey };
		fill(
			this.#head,
			h("p", {}, texts.layerMissingHint),
			h("p", {}, stateLink(this.#page, state, texts.layerMissingSearch(this.#smallkey))),
		);
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
			entry?.description?.[lang] && h("p", { class: "description" }, breakable(entry.description[lang])),
		);
	}

	#showBody(entry: Entry | null, drawables: Record<Lang, Drawable | null>): void {
		const { texts } = this.#page;
		this.#map?.close();
		this.#map = new MapPanel(this.#page, drawables);
		const drawable = drawables[this.#page.lang] ?? drawables.en ?? drawables.fr;
		const look = drawable && lookButton(this.#page, "", this.#under.signal, async () => drawable);
		fill(
			this.#body,
			this.#map.element,
			h(
				"div",
				{ class: "aside" },
				h("section", {}, h("h2", {}, texts.both), bothLanguages(this.#page, drawables)),
				h("section", {}, h("h2", {}, texts.health), this.#healthText(entry), look),
				h("section", {}, h("h2", {}, texts.lastChange), this.#changeText(entry)),
			),
			h(
				"section",
				{ class: "wide" },
				h("h2", {}, texts.reading),
				h("div", { class: "copies" }, this.#copies(entry)),
			),
		);
		this.#map.open();
	}

	#healthText(entry: Entry | null): HTMLElement {
		const { lang, texts } = this.#page;
		if (!entry) return h("p", {}, texts.unknown);
		if (entry.health === null) return h("p", {}, texts.states.unchecked);
		if (!entry.health) return h("p", {}, texts.states.ok);
		const { state, since, cause, repair } = entry.health;
		return h(
			"p",
			{},
			h("strong", { class: "bad" }, stateText(texts, state)),
			`, ${texts.since(weekText(lang, since))}`,
			causeText(texts, cause),
			repair && h("span", { class: "block" }, texts.repairProposed),
		);
	}

	#changeText(entry: Entry | null): HTMLElement {
		const { texts, settings, lang } = this.#page;
		if (!entry?.changed) return h("p", {}, texts.unknown);
		const { commit, date } = entry.changed;
		const day = dayText(lang, new Date(date));
		const sender = senderOf(entry, lang);
		const history = `${settings.repository}/commits/${settings.branch}/${layerPath(this.#smallkey)}`;
		return h(
			"p",
			{},
			h("time", { datetime: date }, texts.changedOn(day, commit.slice(0, 7))),
			settings.repository !== "" && h("span", {}, ", ", h("a", { href: history }, texts.history)),
			sender && h("span", { class: "block" }, `${texts.senderField}${texts.colon} ${sender}`),
		);
	}

	/** How each viewer and library is given the layer. */
	#copies(entry: Entry | null): HTMLElement[] {
		const { texts, settings, root, lang } = this.#page;
		const layer = entry ?? {
			smallkey: this.#smallkey,
			type: "",
			title: { en: this.#title, fr: this.#title },
			address: { en: "" },
		};
		const snippets = snippetsOf(layer, lang, root.href, settings.targets);
		const boxes = snippets
			.filter(({ name }) => name !== "RAMP4")
			.map(({ name, text }) => copyBox(texts, texts.snippets[name] ?? name, text));
		const ramp4 = snippets.find(({ name }) => name === "RAMP4");
		if (ramp4) boxes.push(this.#ramp4(ramp4.text));
		return boxes;
	}

	/** RAMP4 reads a layer of its own configuration: what is copied is the fragment itself. */
	#ramp4(address: string): HTMLElement {
		const { texts, root, lang } = this.#page;
		const place = h("div", {}, copyBox(texts, texts.copyRamp4, address));
		void readFile(root, docPath("ramp4", lang, this.#smallkey), "now", this.#under.signal)
			.then((text) => {
				const shown = text === null ? texts.notThere : JSON.stringify(JSON.parse(text), null, 2);
				fill(place, copyBox(texts, texts.copyRamp4, shown));
			})
			.catch(() => undefined);
		return place;
	}
}
