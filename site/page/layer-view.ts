import { html, nothing, type TemplateResult } from "lit-html";
import type { Entry } from "../../registry/entries.ts";
import { type Lang, layerPath } from "../../registry/smallkey.ts";
import { snippetsOf } from "../../registry/snippets.ts";
import type { Drawable } from "../map/drawable.ts";
import { catalogue, problemOf, renewCatalogue } from "../search/catalogue.ts";
import { senderOf } from "../search/entry.ts";
import type { State } from "./address.ts";
import { bothLanguages } from "./both-languages.ts";
import { copyBox, copyButton } from "./copy.ts";
import { breakable, type Content } from "./dom.ts";
import { docPath, lookButton, readDrawable } from "./drawables.ts";
import { causeText, repairText } from "./health-view.ts";
import { MapPanel } from "./map-panel.ts";
import {
	dayText,
	lang,
	problemBox,
	readFile,
	refresh,
	root,
	settings,
	stateLink,
	stateText,
	texts,
	typeText,
	type View,
	weekText,
} from "./page.ts";

/** A layer that was read: its entry, and how it is drawn in each language. */
interface Known {
	entry: Entry | null;
	drawables: Record<Lang, Drawable | null>;
	map: MapPanel;
}

/** The view of one layer: its map, both languages, its health, its last change, and snippets to copy. */
export class LayerView implements View {
	readonly #smallkey: string;
	/** Null if there is no such layer; undefined until it is read. */
	#known: Known | null | undefined;
	#problems: string[] = [];
	#isReading = true;
	/** The fragment for RAMP4, or a text that there is none; null until it is read. */
	#ramp4: string | null = null;
	/** Cancels reading when the view is closed. */
	readonly #controller = new AbortController();

	constructor(smallkey: string) {
		this.#smallkey = smallkey;
		void this.#load();
	}

	get title(): string {
		const { entry, drawables } = this.#known ?? {};
		return drawables?.[lang]?.title || entry?.title[lang] || this.#smallkey;
	}

	content(state: State): TemplateResult {
		const back = html`<span aria-hidden="true">← </span>${texts.back}`;
		const retry = () => {
			renewCatalogue();
			void this.#load();
		};
		const title = this.#known === null ? texts.layerMissing(this.#smallkey) : this.title;
		return html`<article class="layer" aria-busy=${this.#isReading ? "true" : nothing}>
			<p class="back">${stateLink({ ...state, layer: null }, back)}</p>
			<header class="layerhead"><h1 tabindex="-1">${breakable(title)}</h1>
				${this.#known ? this.#head(this.#known) : this.#known === null ? this.#missing(state) : ""}</header>
			${problemBox(this.#problems, retry)}
			<div class="layerbody">${this.#known ? this.#body(this.#known) : ""}</div>
		</article>`;
	}

	close(): void {
		this.#controller.abort();
		this.#known?.map.close();
	}

	async #load(): Promise<void> {
		const { signal } = this.#controller;
		const problems: string[] = [];
		const note = (error: unknown) => {
			problems.push(problemOf(error));
			return null;
		};
		const read = (one: Lang) => readDrawable(this.#smallkey, one, signal, note);
		const [entry, en, fr] = await Promise.all([
			catalogue.find(this.#smallkey).catch(note),
			read("en"),
			read("fr"),
		]);
		if (signal.aborted) return;
		this.#isReading = false;
		this.#problems = problems;
		if (entry || en || fr) {
			this.#known?.map.close();
			const drawables = { en, fr };
			const map = new MapPanel(drawables);
			this.#known = { entry, drawables, map };
			refresh();
			map.open();
			await this.#readRamp4();
		} else if (problems.length === 0) this.#known = null;
		refresh();
	}

	async #readRamp4(): Promise<void> {
		if (!settings.targets.includes("ramp4")) return;
		const path = docPath("ramp4", lang, this.#smallkey);
		const text = await readFile(path, "revalidated", this.#controller.signal).catch(() => undefined);
		if (text === undefined) return;
		this.#ramp4 = text === null ? texts.notThere : JSON.stringify(JSON.parse(text), null, 2);
	}

	#missing(state: State): TemplateResult {
		const search = { ...state, layer: null, text: this.#smallkey };
		return html`<div><p>${texts.layerMissingHint}</p>
			<p>${stateLink(search, texts.layerMissingSearch(this.#smallkey))}</p></div>`;
	}

	#head({ entry, drawables }: Known): TemplateResult {
		const other = lang === "en" ? "fr" : "en";
		const second = drawables[other]?.title ?? entry?.title[other] ?? "";
		const isOther = second !== this.title && second !== "";
		const { health, type } = entry ?? {};
		const description = entry?.description?.[lang];
		return html`<div>
			${isOther ? html`<p class="second" lang=${other}>${breakable(second)}</p>` : ""}
			<p class="facts"><code>${this.#smallkey}</code>${copyButton(texts.copySmallkey, () => this.#smallkey)}
				${type && html`<span>${typeText(type)}</span>`}
				${health && html`<span class="badge">${stateText(health.state)}</span>`}</p>
			${description && html`<p class="description">${breakable(description)}</p>`}
		</div>`;
	}

	#body({ entry, drawables, map }: Known): TemplateResult {
		const drawable = drawables[lang] ?? drawables.en ?? drawables.fr;
		const look = drawable && lookButton("", this.#controller.signal, async () => drawable);
		return html`${map.element}
			<div class="aside">
				<section><h2>${texts.both}</h2>${bothLanguages(drawables)}</section>
				<section><h2>${texts.health}</h2><p>${this.#health(entry)}</p>${look}</section>
				<section><h2>${texts.lastChange}</h2><p>${this.#change(entry)}</p></section>
			</div>
			<section class="wide"><h2>${texts.reading}</h2><div class="copies">${this.#copies(entry)}</div></section>`;
	}

	#health(entry: Entry | null): Content {
		if (!entry) return texts.unknown;
		if (!entry.health) return entry.health === null ? texts.states.unchecked : texts.states.ok;
		const { state, since, cause, repair } = entry.health;
		return html`<strong class="bad">${stateText(state)}</strong>, ${texts.since(weekText(since))}
			${causeText(cause)}${repairText(repair)}`;
	}

	#change(entry: Entry | null): Content {
		if (!entry?.changed) return texts.unknown;
		const { commit, date } = entry.changed;
		const when = texts.changedOn(dayText(new Date(date)), commit.slice(0, 7));
		const sender = senderOf(entry, lang);
		const history = `${settings.repository}/commits/${settings.branch}/${layerPath(this.#smallkey)}`;
		const more = settings.repository && html`<span>, <a href=${history}>${texts.history}</a></span>`;
		return html`<time datetime=${date}>${when}</time>${more}
			${sender && html`<span class="block">${texts.senderField}${texts.colon} ${sender}</span>`}`;
	}

	/** The layer's snippets for viewers and libraries. The one for RAMP4 is the fragment itself. */
	#copies(entry: Entry | null): TemplateResult[] {
		const title = { en: this.title, fr: this.title };
		const layer = entry ?? { smallkey: this.#smallkey, type: "", title, address: { en: "" } };
		const snippets = snippetsOf(layer, lang, root.href, settings.targets);
		const own = snippets.filter(({ name }) => name !== "RAMP4");
		return [
			...own.map(({ name, text }) => copyBox(texts.snippets[name] ?? name, text)),
			...snippets
				.filter((one) => !own.includes(one))
				.map(({ text }) => copyBox(texts.copyRamp4, this.#ramp4 ?? text)),
		];
	}
}
