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

export function openLayerView(smallkey: string, signal: AbortSignal): View {
	/** Null if the layer does not exist; undefined until a part of it is read. */
	let layer: Layer | null | undefined;
	let problems: string[] = [];
	let isReading = true;
	let copied = localStorage.getItem(chosenName) ?? "";
	/** The fragment, or the text that RAMP4 cannot show the layer; null until it is read. */
	let ramp4: string | null = null;
	const answer = part("info");
	signal.addEventListener("abort", () => layer?.map.close());
	const given = givenEntry?.smallkey === smallkey ? givenEntry : null;
	if (given) set(given, { en: null, fr: null });
	void load(async () => given ?? catalogue.find(smallkey));

	const title = () => layer?.drawables[lang]?.title || layer?.entry?.title[lang] || smallkey;

	function content(state: State): TemplateResult {
		const warnings = problemBox(problems, retry);
		if (isEmbed)
			return html`<article class="layer">
				<h1><a href=${addressOfState(state)} target="_blank" rel="noopener">${breakable(title())}</a></h1>
				${warnings}${layer?.map.element ?? ""}${answer}
			</article>`;
		const back = html`<span aria-hidden="true">← </span>${t("back-to-layers")}`;
		return html`<article class="layer" aria-busy=${isReading ? "true" : nothing}>
			<p class="back">${stateLink({ ...state, layer: "" }, back)}</p>
			<header class="layerhead"><h1 tabindex="-1">${breakable(layer === null ? t("no-such-layer", smallkey) : title())}</h1>
				${layer === null ? missing(state) : (layer?.head ?? "")}</header>
			${warnings}
			<div class="layerbody">${layer ? body(layer) : ""}</div>
		</article>`;
	}

	function retry(): void {
		renewCatalogue();
		void load(() => catalogue.find(smallkey));
	}

	function set(entry: Entry | null, drawables: Drawables): Layer {
		layer?.map.close();
		const map = mapPanel(drawables, answer);
		const titleIn = (of: Lang) => drawables[of]?.title || entry?.title[of] || (of === lang ? smallkey : "");
		const titles = { en: titleIn("en"), fr: titleIn("fr") };
		const head = elementOf(layerHead({ ...(entry ?? unlisted), smallkey, title: titles }, context));
		const copy = document.createElement("span");
		render(copyKeyButton(smallkey), copy);
		head.querySelector("code")?.after(" ", copy);
		const facts = entry ? elementOf(layerFacts(entry, context, true)) : part("", t("not-known"));
		layer = { entry, drawables, map, head, facts };
		return layer;
	}

	async function load(readEntry: () => Promise<Entry | null>): Promise<void> {
		const failures: string[] = [];
		const note = (error: unknown) => {
			failures.push(problemOf(error));
			return null;
		};
		const [entry, drawables] = await Promise.all([
			readEntry().catch(note),
			readDrawables(smallkey, signal, note),
		]);
		if (signal.aborted) return;
		isReading = false;
		problems = failures;
		if (entry || drawables.en || drawables.fr) {
			const { map } = set(entry, drawables);
			refresh();
			map.open();
			void readRamp4();
		} else if (failures.length === 0) layer = null;
		refresh();
	}

	async function readRamp4(): Promise<void> {
		if (copied !== "RAMP4" || !settings.targets.includes("ramp4")) return;
		const text = await readFile(docPath("ramp4", lang, smallkey), "no-cache", signal).catch(() => undefined);
		if (text === undefined || signal.aborted) return;
		ramp4 = text === null ? t("not-served") : JSON.stringify(JSON.parse(text), null, 2);
		refresh();
	}

	function missing(state: State): TemplateResult {
		const search = { ...state, layer: "", q: smallkey };
		return html`<div><p>${t("no-such-layer-hint")}</p>
			<p>${stateLink(search, t("search-for", smallkey))}</p></div>`;
	}

	function body({ entry, drawables, map, facts }: Layer): TemplateResult {
		return html`${map.element}
			<div class="aside">
				${answer}
				<section><h2>${t("about-layer")}</h2>${facts}</section>
				<section><h2>${t("both-languages")}</h2>${bothLanguages(drawables)}</section>
			</div>
			<section class="wide"><h2>${t("copy-as")}</h2>${copies(entry)}</section>`;
	}

	function copies(entry: Entry | null): TemplateResult {
		const shown = entry ?? { ...unlisted, smallkey, title: { en: title(), fr: title() } };
		const served = settings.targets.filter((target) => !entry?.unread?.includes(`${target}/${lang}`));
		const snippets = snippetsOf(shown, lang, root.href, served);
		const chosen = snippets.find(({ name }) => name === copied) ?? snippets[0];
		if (!chosen) return html`<p>${t("viewers-cannot-read")}</p>`;
		const choose = (name: string) => {
			copied = name;
			localStorage.setItem(chosenName, name);
			void readRamp4();
			refresh();
		};
		const options = snippets.map(({ name }) => [name, copyText(name)] as const);
		const text = chosen.name === "RAMP4" ? (ramp4 ?? chosen.text) : chosen.text;
		return html`<div class="copyas"><label for="copyas">${t("copy-for")}</label>${select("copyas", chosen.name, options, choose)}</div>
			${copyBox(copyText(chosen.name), text)}`;
	}

	return {
		get title() {
			return title();
		},
		content,
	};
}

const unlisted = { type: "", address: { en: "" } };

function elementOf({ text }: Html): HTMLElement {
	const element = part("");
	element.innerHTML = text;
	return element;
}
