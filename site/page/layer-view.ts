import { html } from "lit-html";
import type { Entry } from "../data/entries.ts";
import { catalogue, problemOf } from "../search/loaded-catalogue.ts";
import { titleOf } from "../search/select.ts";
import { type Drawables, mapPanel, readDrawables } from "./drawables.ts";
import { embedArticle, factRows, layerArticle, outsideLink } from "./layer-content.ts";
import {
	addressOfState,
	copyButton,
	currentState,
	givenEntry,
	isEmbed,
	lang,
	part,
	problemBox,
	refresh,
	root,
	settings,
	stateLink,
	t,
	texts,
	type View,
} from "./page.ts";

/** Resolves once it is known what the layer is; its map follows. */
export async function openLayerView(smallkey: string, signal: AbortSignal): Promise<View> {
	const problems: string[] = [];
	const note = (error: unknown) => {
		problems.push(problemOf(error));
		return null;
	};
	const reading = readDrawables(smallkey, signal, note);
	const given = givenEntry?.smallkey === smallkey ? givenEntry : null;
	const listed = given ?? (await catalogue.find(smallkey).catch(note));
	const entry = listed ?? unlisted(smallkey, await reading);
	const warnings = () => problemBox(problems, () => location.reload());
	if (!entry) return missing(smallkey, problems.length === 0, warnings);
	const context = { lang, root: root.href, publicUrl: root.href, texts, site: settings };
	const article = part("");
	article.innerHTML = (isEmbed ? embedArticle : layerArticle)(entry, context).text;
	const back = article.querySelector<HTMLAnchorElement>(".back a");
	if (back) back.href = addressOfState({ ...currentState(), layer: "" });
	const copyKey = copyButton(t("copy-smallkey"), () => smallkey);
	article.querySelector(".facts code")?.after(" ", part("", copyKey));
	for (const text of article.querySelectorAll("details pre")) {
		const name = text.getAttribute("aria-label") ?? "";
		const copy = copyButton(t("copy"), () => text.textContent ?? "", name);
		text.before(part("", copy));
	}
	void reading.then((drawables) => {
		if (signal.aborted) return;
		const map = mapPanel(drawables);
		article.querySelector(".mappanel")?.replaceWith(map.element);
		signal.addEventListener("abort", map.close);
		map.open();
		const { metadataUrl = "", catalogueUrl = "" } = drawables[lang] ?? {};
		const links = factRows([
			[t("metadata"), metadataUrl && outsideLink(metadataUrl)],
			[t("catalogue-page"), catalogueUrl && outsideLink(catalogueUrl)],
		]);
		article.querySelector("dl")?.insertAdjacentHTML("beforeend", links.text);
		refresh();
	});
	return { title: titleOf(entry, lang), content: () => html`${warnings()}${article}` };
}

/** A layer that was registered just now, as its fragments show it. */
function unlisted(smallkey: string, { en, fr }: Drawables): Entry | null {
	const drawable = en ?? fr;
	if (!drawable) return null;
	const title = { en: en?.title ?? "", fr: fr?.title ?? "" };
	return { smallkey, type: "", title, address: { en: drawable.url }, health: null };
}

function missing(smallkey: string, isKnown: boolean, warnings: () => ReturnType<typeof problemBox>): View {
	return {
		title: smallkey,
		content: (state) => html`<article class="layer">
			<h1 tabindex="-1">${isKnown ? t("no-such-layer", smallkey) : smallkey}</h1>${warnings()}
			<p>${stateLink({ ...state, layer: "", q: smallkey }, t("search-for", smallkey))}</p>
		</article>`,
	};
}
