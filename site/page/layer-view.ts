import { html, nothing, render, type TemplateResult } from "lit-html";
import type { Lang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { snippetsOf } from "../data/snippets.ts";
import { catalogue, problemOf, renewCatalogue } from "../search/loaded-catalogue.ts";
import type { Html } from "../static/html.ts";
import type { State } from "./address.ts";
import { breakable, copyBox, copyKeyButton, part, select } from "./dom.ts";
import {
	bothLanguages,
	type Drawables,
	docPath,
	lookButton,
	type MapPanel,
	mapPanel,
	readDrawables,
} from "./drawables.ts";
import { layerFacts, layerHead } from "./layer-content.ts";
import {
	addressOfState,
	copyText,
	givenEntry,
	isEmbed,
	lang,
	problemBox,
	readFile,
	refresh,
	root,
	settings,
	stateLink,
	t,
	texts,
	type View,
} from "./page.ts";

interface Layer {
	/** Null if the catalogue does not have it yet. */
	entry: Entry | null;
	drawables: Drawables;
	map: MapPanel;
	head: Node;
	facts: Node;
}

const context = { lang, root: root.href, texts, site: settings };

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
		if (isEmbed) return this.#embedded(state);
		const back = html`<span aria-hidden="true">← </span>${t("back-to-layers")}`;
		const title = this.#layer === null ? t("no-such-layer", this.smallkey) : this.title;
		return html`<article class="layer" aria-busy=${this.#isReading ? "true" : nothing}>
			<p class="back">${stateLink({ ...state, layer: "" }, back)}</p>
			<header class="layerhead"><h1 tabindex="-1">${breakable(title)}</h1>
				${this.#layer === null ? this.#missing(state) : (this.#layer?.head ?? "")}</header>
			${problemBox(this.#problems, this.#retry)}
			<div class="layerbody">${this.#layer ? this.#body(this.#layer) : ""}</div>
		</article>`;
	}

	#embedded(state: State): TemplateResult {
		return html`<article class="layer">
			<h1><a href=${addressOfState(state)} target="_blank" rel="noopener">${breakable(this.title)}</a></h1>
			${problemBox(this.#problems, this.#retry)}
			${this.#layer?.map.element ?? ""}${this.#answer}
		</article>`;
	}

	readonly #retry = (): void => {
		renewCatalogue();
		void this.#load(() => catalogue.find(this.smallkey));
	};

	#set(entry: Entry | null, drawables: Drawables): Layer {
		this.#layer?.map.close();
		const map = mapPanel(drawables, this.#answer);
		const { smallkey } = this;
		const titleIn = (of: Lang) => drawables[of]?.title || entry?.title[of] || (of === lang ? smallkey : "");
		const title = { en: titleIn("en"), fr: titleIn("fr") };
		const head = elementOf(layerHead({ ...(entry ?? unlisted), smallkey, title }, context));
		const copy = document.createElement("span");
		render(copyKeyButton(smallkey), copy);
		head.querySelector("code")?.after(" ", copy);
		const facts = entry ? elementOf(layerFacts(entry, context, true)) : part("", t("not-known"));
		this.#layer = { entry, drawables, map, head, facts };
		return this.#layer;
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

	#body({ entry, drawables, map, facts }: Layer): TemplateResult {
		const drawable = drawables[lang] ?? drawables.en ?? drawables.fr;
		return html`${map.element}
			<div class="aside">
				${this.#answer}
				<section><h2>${t("about-layer")}</h2>${facts}
					${drawable ? lookButton(drawable, this.signal) : ""}</section>
				<section><h2>${t("both-languages")}</h2>${bothLanguages(drawables)}</section>
			</div>
			<section class="wide"><h2>${t("copy-as")}</h2>${this.#copies(entry)}</section>`;
	}

	#copies(entry: Entry | null): TemplateResult {
		const title = { en: this.title, fr: this.title };
		const layer = entry ?? { ...unlisted, smallkey: this.smallkey, title };
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

const unlisted = { type: "", address: { en: "" } };

function elementOf({ text }: Html): HTMLElement {
	const element = part("");
	element.innerHTML = text;
	return element;
}
