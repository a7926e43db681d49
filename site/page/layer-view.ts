import { html } from "lit-html";
import type { Entry } from "../data/entries.ts";
import { catalogue, problemOf } from "../search/loaded-catalogue.ts";
import { titleOf } from "../search/select.ts";
import { type Content, copyButton, createPart, problemBox, stateLink } from "./elements.ts";
import { embedArticle, factRows, layerArticle, outsideLink } from "./layer-content.ts";
import { type Drawables, MapPanel, readDrawables } from "./map-panel.ts";
import { givenEntry, isEmbed, lang, refresh, root, settings, t, texts } from "./page.ts";
import { addressOfState, currentState, type View } from "./state.ts";

/** Resolves without waiting for the map. */
export async function openLayerView(smallkey: string, signal: AbortSignal): Promise<View> {
	const problems: string[] = [];
	const addProblem = (error: unknown) => {
		problems.push(problemOf(error));
		return null;
	};
	const reading = readDrawables(smallkey, signal, addProblem);
	const given = givenEntry?.smallkey === smallkey ? givenEntry : null;
	const listed = given ?? (await catalogue.find(smallkey).catch(addProblem));
	const entry = listed ?? entryOfDrawables(smallkey, await reading);
	const warnings = () => problemBox(problems, () => location.reload());
	if (!entry) return missingView(smallkey, problems.length === 0, warnings);
	const article = createArticle(entry);
	void reading.then((drawables) => {
		if (signal.aborted) return;
		addDrawables(article, drawables, signal);
		refresh();
	});
	return { title: titleOf(entry, lang), content: () => html`${warnings()}${article}` };
}

/** The static page, with buttons to copy. The link back keeps the search. */
function createArticle(entry: Entry): HTMLElement {
	const context = { lang, root: root.href, publicUrl: root.href, texts, site: settings };
	const article = createPart("");
	article.innerHTML = (isEmbed ? embedArticle : layerArticle)(entry, context).text;
	const back = article.querySelector<HTMLAnchorElement>(".back a");
	if (back) back.href = addressOfState({ ...currentState(), layer: "" });
	const copyKey = copyButton(t("copy-smallkey"), () => entry.smallkey);
	article.querySelector(".facts code")?.after(" ", createPart("", copyKey));
	for (const text of article.querySelectorAll("details pre")) {
		const name = text.getAttribute("aria-label") ?? "";
		const copy = copyButton(t("copy"), () => text.textContent ?? "", name);
		text.before(createPart("", copy));
	}
	return article;
}

function addDrawables(article: HTMLElement, drawables: Drawables, signal: AbortSignal) {
	const map = new MapPanel(drawables);
	article.querySelector(".mappanel")?.replaceWith(map.element);
	signal.addEventListener("abort", () => map.close());
	void map.open();
	const { metadataUrl = "", catalogueUrl = "" } = drawables[lang] ?? {};
	const links = factRows([
		[t("metadata"), metadataUrl && outsideLink(metadataUrl)],
		[t("catalogue-page"), catalogueUrl && outsideLink(catalogueUrl)],
	]);
	article.querySelector("dl")?.insertAdjacentHTML("beforeend", links.text);
}

/** The index may not list it yet. Null if no fragment can be drawn. */
function entryOfDrawables(smallkey: string, { en, fr }: Drawables): Entry | null {
	const drawable = en ?? fr;
	if (!drawable) return null;
	const title = { en: en?.title ?? "", fr: fr?.title ?? "" };
	return { smallkey, type: "", title, address: { en: drawable.url }, health: null };
}

function missingView(smallkey: string, isKnown: boolean, warnings: () => Content): View {
	return {
		title: smallkey,
		content: (state) => html`<article class="layer">
			<h1 tabindex="-1">${isKnown ? t("no-such-layer", smallkey) : smallkey}</h1>${warnings()}
			<p>${stateLink({ ...state, layer: "", q: smallkey }, t("search-for", smallkey))}</p>
		</article>`,
	};
}
