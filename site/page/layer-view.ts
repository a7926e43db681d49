import { html, nothing, type TemplateResult } from "lit-html";
import type { Entry } from "../data/entries.ts";
import { snippetsOf } from "../data/snippets.ts";
import { catalogue, problemOf, renewCatalogue } from "../search/loaded-catalogue.ts";
import type { State } from "./address.ts";
import { breakable, type Content, copyBox, copyButton, outside, part, select } from "./dom.ts";
import {
	bothLanguages,
	type Drawables,
	docPath,
	lookButton,
	type MapPanel,
	mapPanel,
	readDrawables,
} from "./drawables.ts";
import { type RowPart, rowsOf, separator } from "./layer-rows.ts";
import {
	addressOfState,
	givenEntry,
	problemBox,
	readFile,
	refresh,
	root,
	settings,
	stateLink,
	type View,
} from "./page.ts";
import { copyText, lang, stateText, t, texts, typeText } from "./page-texts.ts";

interface Layer {
	entry: Entry | null;
	drawables: Drawables;
	map: MapPanel;
}

/** Key in `localStorage`. */
const chosenName = "copy-as";

export class LayerView implements View {
	/** Null if the layer does not exist; undefined until a part of it is read. */
	#layer: Layer | null | undefined;
	#problems: string[] = [];
	#isReading = true;
	#copied = localStorage.getItem(chosenName) ?? "";
	/** The fragment, or the text that RAMP4 cannot show the layer; null until it is read. */
	#ramp4: string | null = null;
	readonly #answer = part("info");

	constructor(
		readonly smallkey: string,
		readonly signal: AbortSignal,
	) {
		signal.addEventListener("abort", () => this.#layer?.map.close());
		const entry = givenEntry?.smallkey === smallkey ? givenEntry : null;
		if (entry) this.#set(entry, { en: null, fr: null });
		void this.#load(async () => entry ?? catalogue.find(smallkey));
	}

	get title(): string {
		const { entry, drawables } = this.#layer ?? {};
		return drawables?.[lang]?.title || entry?.title[lang] || this.smallkey;
	}

	content(state: State): TemplateResult {
		const back = html`<span aria-hidden="true">← </span>${t("back-to-layers")}`;
		const retry = () => {
			renewCatalogue();
			void this.#load(() => catalogue.find(this.smallkey));
		};
		const title = this.#layer === null ? t("no-such-layer", this.smallkey) : this.title;
		return html`<article class="layer" aria-busy=${this.#isReading ? "true" : nothing}>
			<p class="back">${stateLink({ ...state, layer: "" }, back)}</p>
			<header class="layerhead"><h1 tabindex="-1">${breakable(title)}</h1>
				${this.#layer ? this.#head(this.#layer) : this.#layer === null ? this.#missing(state) : ""}</header>
			${problemBox(this.#problems, retry)}
			<div class="layerbody">${this.#layer ? this.#body(this.#layer) : ""}</div>
		</article>`;
	}

	#set(entry: Entry | null, drawables: Drawables): Layer {
		this.#layer?.map.close();
		const layer = { entry, drawables, map: mapPanel(drawables, this.#answer) };
		this.#layer = layer;
		return layer;
	}

	async #load(readEntry: () => Promise<Entry | null>): Promise<void> {
		const { signal } = this;
		const problems: string[] = [];
		const note = (error: unknown) => {
			problems.push(problemOf(error));
			return null;
		};
		const [entry, drawables] = await Promise.all([
			readEntry().catch(note),
			readDrawables(this.smallkey, signal, note),
		]);
		if (signal.aborted) return;
		this.#isReading = false;
		this.#problems = problems;
		if (entry || drawables.en || drawables.fr) {
			const { map } = this.#set(entry, drawables);
			refresh();
			map.open();
			void this.#readRamp4();
		} else if (problems.length === 0) this.#layer = null;
		refresh();
	}

	async #readRamp4(): Promise<void> {
		if (this.#copied !== "RAMP4" || !settings.targets.includes("ramp4")) return;
		const path = docPath("ramp4", lang, this.smallkey);
		const text = await readFile(path, "no-cache", this.signal).catch(() => undefined);
		if (text === undefined) return;
		this.#ramp4 = text === null ? t("not-served") : JSON.stringify(JSON.parse(text), null, 2);
		if (!this.signal.aborted) refresh();
	}

	#missing(state: State): TemplateResult {
		const search = { ...state, layer: "", q: this.smallkey };
		return html`<div><p>${t("no-such-layer-hint")}</p>
			<p>${stateLink(search, t("search-for", this.smallkey))}</p></div>`;
	}

	#head({ entry, drawables }: Layer): TemplateResult {
		const other = lang === "en" ? "fr" : "en";
		const second = drawables[other]?.title ?? entry?.title[other] ?? "";
		const isOther = second !== this.title && second !== "";
		const { health, type } = entry ?? {};
		const description = entry?.description?.[lang];
		return html`<div>
			${isOther ? html`<p class="second" lang=${other}>${breakable(second)}</p>` : ""}
			<p class="facts"><code>${this.smallkey}</code>${copyButton(t("copy-smallkey"), () => this.smallkey)}
				${type && html`<span>${typeText(type)}</span>`}
				${health && html`<span class="badge">${stateText(health.state)}</span>`}</p>
			${description && html`<p class="description">${breakable(description)}</p>`}
		</div>`;
	}

	#body({ entry, drawables, map }: Layer): TemplateResult {
		const drawable = drawables[lang] ?? drawables.en ?? drawables.fr;
		const look = drawable ? lookButton(drawable, this.signal) : "";
		const rows = entry && rowsOf(entry, lang, texts, settings).filter(({ isInTable }) => !isInTable);
		const about = rows
			? html`<dl>${rows.map(({ name, parts }) => html`<dt>${name}</dt><dd>${parts.map((rowPart, index) => [separator(parts, index), partContent(rowPart)])}</dd>`)}</dl>`
			: html`<p>${t("not-known")}</p>`;
		return html`${map.element}
			<div class="aside">
				${this.#answer}
				<section><h2>${t("about-layer")}</h2>${about}${look}</section>
				<section><h2>${t("both-languages")}</h2>${bothLanguages(drawables)}</section>
			</div>
			<section class="wide"><h2>${t("copy-as")}</h2>${this.#copies(entry)}</section>`;
	}

	#copies(entry: Entry | null): TemplateResult {
		const title = { en: this.title, fr: this.title };
		const layer = entry ?? { smallkey: this.smallkey, type: "", title, address: { en: "" } };
		const served = settings.targets.filter((target) => !entry?.unread?.includes(`${target}/${lang}`));
		const snippets = snippetsOf(layer, lang, root.href, served);
		const chosen = snippets.find(({ name }) => name === this.#copied) ?? snippets[0];
		if (!chosen) return html`<p>${t("viewers-cannot-read")}</p>`;
		const choose = (name: string) => {
			this.#copied = name;
			localStorage.setItem(chosenName, name);
			void this.#readRamp4();
			refresh();
		};
		const options = snippets.map(({ name }) => [name, copyText(name)] as const);
		const text = chosen.name === "RAMP4" ? (this.#ramp4 ?? chosen.text) : chosen.text;
		return html`<div class="copyas"><label for="copyas">${t("copy-for")}</label>${select("copyas", chosen.name, options, choose)}</div>
			${copyBox(copyText(chosen.name), text)}`;
	}
}

function partContent(rowPart: RowPart): Content {
	const { kind, text } = rowPart;
	if (kind === "address") return outside(rowPart.href, text);
	if (kind === "list")
		return html`<a href=${new URL(`${lang}/${rowPart.query}`, root).href}>${breakable(text)}</a>`;
	if (kind === "page") return html`<a href=${new URL(rowPart.href, root).href}>${breakable(text)}</a>`;
	if (kind === "code") return html`<code>${text}</code>`;
	return html`<span class=${kind === "note" ? "note" : nothing} lang=${rowPart.lang ?? nothing}>${breakable(text)}</span>`;
}

export class EmbedView implements View {
	readonly title: string;
	readonly #answer = part("info");
	#map: MapPanel | null = null;
	#problems: string[] = [];

	constructor(
		readonly smallkey: string,
		readonly signal: AbortSignal,
	) {
		this.title = givenEntry?.title[lang] || smallkey;
		void this.#open();
	}

	async #open(): Promise<void> {
		const problems: string[] = [];
		const note = (error: unknown) => {
			problems.push(problemOf(error));
			return null;
		};
		const drawables = await readDrawables(this.smallkey, this.signal, note);
		this.#problems = problems;
		this.#map = mapPanel(drawables, this.#answer);
		refresh();
		this.#map.open();
	}

	content(state: State): TemplateResult {
		const page = addressOfState(state);
		return html`<article class="layer">
			<h1><a href=${page} target="_blank" rel="noopener">${breakable(this.title)}</a></h1>
			${problemBox(this.#problems, () => location.reload())}
			${this.#map?.element ?? ""}${this.#answer}
		</article>`;
	}
}
