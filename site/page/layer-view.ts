import { html, nothing, type TemplateResult } from "lit-html";
import type { Entry } from "../../registry/entries.ts";
import { type Lang, layerPath } from "../../registry/smallkey.ts";
import { snippetsOf } from "../../registry/snippets.ts";
import { senderOf, stateOf } from "../search/entry.ts";
import { catalogue, problemOf, renewCatalogue } from "../search/loaded-catalogue.ts";
import type { Text } from "../text/translate.ts";
import type { State } from "./address.ts";
import { breakable, type Content, copyBox, copyButton } from "./dom.ts";
import {
	bothLanguages,
	type Drawables,
	docPath,
	lookButton,
	type MapPanel,
	mapPanel,
	readDrawable,
} from "./drawables.ts";
import { causeText, repairText } from "./health-view.ts";
import { problemBox, readFile, refresh, root, settings, stateLink, type View } from "./page.ts";
import { dayText, lang, named, stateText, t, typeText, weekText } from "./texts.ts";

/** Name of a snippet → its text, where the program's name is not enough. */
const snippetTexts: ReadonlyMap<string, Text> = new Map([
	["RAMP 4.0", "RAMP 4.0: its service, in RAMP-starter.js"],
	["RAMP 5", "RAMP 5: its service, in RAMP-starter.js"],
	["FGPV", "FGPV: the map in its page"],
	["GeoView", "GeoView: configuration of the layer"],
	["Terria", "Terria: member of a catalogue"],
	["Leaflet", "Leaflet (ArcGIS services: with esri-leaflet)"],
	["<iframe>", "HTML: the map in a frame of your page"],
	["RAMP4", "RAMP4: configuration of the layer"],
]);

/** A layer that was read: its entry, and how it is drawn in each language. */
interface Known {
	entry: Entry | null;
	drawables: Drawables;
	map: MapPanel;
	/** The fragment for RAMP4, or the text that RAMP4 cannot show the layer; null until it is read. */
	ramp4: string | null;
}

/** The view of one layer: its map, both languages, its health, its last change, and snippets to copy. */
export class LayerView implements View {
	/** Null if there is no such layer; undefined until it is read. */
	#known: Known | null | undefined;
	#problems: string[] = [];
	#isReading = true;

	/** @param signal closes the view */
	constructor(
		readonly smallkey: string,
		readonly signal: AbortSignal,
	) {
		signal.addEventListener("abort", () => this.#known?.map.close());
		void this.#load();
	}

	get title(): string {
		const { entry, drawables } = this.#known ?? {};
		return drawables?.[lang]?.title || entry?.title[lang] || this.smallkey;
	}

	content(state: State): TemplateResult {
		const back = html`<span aria-hidden="true">← </span>${t("Back to the layers")}`;
		const retry = () => {
			renewCatalogue();
			void this.#load();
		};
		const title = this.#known === null ? t("There is no layer {0}.", this.smallkey) : this.title;
		return html`<article class="layer" aria-busy=${this.#isReading ? "true" : nothing}>
			<p class="back">${stateLink({ ...state, layer: "" }, back)}</p>
			<header class="layerhead"><h1 tabindex="-1">${breakable(title)}</h1>
				${this.#known ? this.#head(this.#known) : this.#known === null ? this.#missing(state) : ""}</header>
			${problemBox(this.#problems, retry)}
			<div class="layerbody">${this.#known ? this.#body(this.#known) : ""}</div>
		</article>`;
	}

	async #load(): Promise<void> {
		const { signal } = this;
		const problems: string[] = [];
		const note = (error: unknown) => {
			problems.push(problemOf(error));
			return null;
		};
		const read = (one: Lang) => readDrawable(this.smallkey, one, signal, note);
		const ramp4 = this.#readRamp4().catch(() => null);
		const [entry, en, fr] = await Promise.all([
			catalogue.find(this.smallkey).catch(note),
			read("en"),
			read("fr"),
		]);
		if (signal.aborted) return;
		this.#isReading = false;
		this.#problems = problems;
		if (entry || en || fr) {
			this.#known?.map.close();
			const drawables = { en, fr };
			const map = mapPanel(drawables);
			const known: Known = { entry, drawables, map, ramp4: null };
			this.#known = known;
			refresh();
			map.open();
			known.ramp4 = await ramp4;
			if (signal.aborted) return;
		} else if (problems.length === 0) this.#known = null;
		refresh();
	}

	async #readRamp4(): Promise<string | null> {
		if (!settings.targets.includes("ramp4")) return null;
		const path = docPath("ramp4", lang, this.smallkey);
		const text = await readFile(path, "no-cache", this.signal);
		return text === null ? t("not served there") : JSON.stringify(JSON.parse(text), null, 2);
	}

	#missing(state: State): TemplateResult {
		const search = { ...state, layer: "", q: this.smallkey };
		return html`<div><p>${t("It may have been removed, or its smallkey may be written differently.")}</p>
			<p>${stateLink(search, t("Search for {0}", this.smallkey))}</p></div>`;
	}

	#head({ entry, drawables }: Known): TemplateResult {
		const other = lang === "en" ? "fr" : "en";
		const second = drawables[other]?.title ?? entry?.title[other] ?? "";
		const isOther = second !== this.title && second !== "";
		const { health, type } = entry ?? {};
		const description = entry?.description?.[lang];
		return html`<div>
			${isOther ? html`<p class="second" lang=${other}>${breakable(second)}</p>` : ""}
			<p class="facts"><code>${this.smallkey}</code>${copyButton(t("Copy the smallkey"), () => this.smallkey)}
				${type && html`<span>${typeText(type)}</span>`}
				${health && html`<span class="badge">${stateText(health.state)}</span>`}</p>
			${description && html`<p class="description">${breakable(description)}</p>`}
		</div>`;
	}

	#body({ entry, drawables, map, ramp4 }: Known): TemplateResult {
		const drawable = drawables[lang] ?? drawables.en ?? drawables.fr;
		const look = drawable && lookButton("", this.signal, async () => drawable);
		return html`${map.element}
			<div class="aside">
				<section><h2>${t("Both languages")}</h2>${bothLanguages(drawables)}</section>
				<section><h2>${t("Health")}</h2><p>${this.#health(entry)}</p>${look}</section>
				<section><h2>${t("Last change")}</h2><p>${this.#change(entry)}</p></section>
			</div>
			<section class="wide"><h2>${t("Copy as")}</h2><div class="copies">${this.#copies(entry, ramp4)}</div></section>`;
	}

	#health(entry: Entry | null): Content {
		if (!entry) return t("Not known here");
		if (!entry.health) return stateText(stateOf(entry));
		const { state, since, cause, repair } = entry.health;
		return html`<strong class="bad">${stateText(state)}</strong>, ${t("since the week of {0}", weekText(since))}
			${causeText(cause)}${repairText(repair)}`;
	}

	#change(entry: Entry | null): Content {
		if (!entry?.changed) return t("Not known here");
		const { commit, date } = entry.changed;
		const when = `${dayText(new Date(date))}, commit ${commit.slice(0, 7)}`;
		const sender = senderOf(entry, lang);
		const history = `${settings.repository}/commits/${settings.branch}/${layerPath(this.smallkey)}`;
		const more = settings.repository && html`<span>, <a href=${history}>${t("its history")}</a></span>`;
		return html`<time datetime=${date}>${when}</time>${more}
			${sender && html`<span class="block">${t("Registered by")}${t(":")} ${sender}</span>`}`;
	}

	/** The layer's snippets for viewers and libraries. The last one, for RAMP4, is the fragment itself. */
	#copies(entry: Entry | null, ramp4: string | null): TemplateResult[] {
		const title = { en: this.title, fr: this.title };
		const layer = entry ?? { smallkey: this.smallkey, type: "", title, address: { en: "" } };
		const isRamp4 = (name: string) => name === "RAMP4";
		return snippetsOf(layer, lang, root.href, settings.targets)
			.sort((one, other) => Number(isRamp4(one.name)) - Number(isRamp4(other.name)))
			.map(({ name, text }) => copyBox(named(snippetTexts, name), isRamp4(name) ? (ramp4 ?? text) : text));
	}
}
