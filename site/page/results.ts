import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Entry } from "../../registry/entries.ts";
import { hostsOf, senderOf, stateOf, titleOf } from "../search/entry.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { type Sort, sorts } from "../search/select.ts";
import { fold, maxWordLength, stem } from "../search/words.ts";
import { firstShown, type State } from "./address.ts";
import { breakable, type Content, copyButton, select } from "./dom.ts";
import { currentState, go, problemBox, root, stateLink } from "./page.ts";
import { lang, layers, stateText, t, typeText } from "./texts.ts";

const sortTexts = { best: "Best match", title: "Title", changed: "Last change" } as const;

export interface Found {
	state: State;
	hits: readonly Entry[];
	/** The matched words, stemmed. */
	words: ReadonlySet<string>;
}

/**
 * The list of the found layers, with their number and order.
 * @param isBusy whether another search is running; the earlier result stays until it ends
 * @param more is called to show further rows
 */
export function results(found: Found, isBusy: boolean, more: () => void, retry: () => void): TemplateResult {
	const { hits, state, words } = found;
	const sort = (value: string) => go({ ...currentState(), sort: value as Sort, n: firstShown });
	const orders = sorts.map((one) => [one, t(sortTexts[one])] as const);
	const rowOf = (hit: Entry) => row(state, hit, words);
	const rows = repeat(hits.slice(0, state.n), ({ smallkey }) => smallkey, rowOf);
	return html`<div aria-busy=${isBusy ? "true" : nothing}>
		<div class="resultshead">
			<p class="count" role="status">${isBusy && hits.length === 0 ? t("Searching…") : countText(hits.length)}</p>
			<p class="order" ?hidden=${hits.length === 0}>
				<label for="sort">${t("Sort by")}</label>${select("sort", state.sort, orders, sort)}
			</p>
		</div>
		<div class="problems">${problemBox(catalogue.problems, retry)}</div>
		<ol class="results" aria-label=${t("Layers found")}>${rows}</ol>
		<div class="more"><button ?hidden=${hits.length <= state.n} @click=${more}>${t("Show more")}</button></div>
	</div>`;
}

function countText(hits: number): Content {
	const { layers: all, problems, isComplete, selection } = catalogue;
	if (all === 0) return t("No layer is registered yet.");
	if (hits === 0 && problems.length > 0) return "";
	if (hits === 0)
		return html`<span><strong>${t("No layer matches.")}</strong> ${t("Try other words, in English or French, or remove a filter.")}</span>`;
	const isDone = isComplete || problems.length > 0 || all === null;
	return isDone ? layers(hits) : t("{0} so far: {1} of {2} were read", layers(hits), selection.size, all);
}

function row(state: State, entry: Entry, words: ReadonlySet<string>): TemplateResult {
	const other = lang === "en" ? "fr" : "en";
	const { smallkey, thumbnail } = entry;
	const link = stateLink({ ...state, layer: smallkey }, marked(titleOf(entry, lang), words));
	const second = entry.title[other] !== entry.title[lang] ? entry.title[other] : "";
	const about = entry.description?.[lang];
	const copy = copyButton(t("Copy the smallkey"), () => smallkey, smallkey);
	const health = stateOf(entry);
	const isSick = health !== "ok" && health !== "unchecked";
	const sender = senderOf(entry, lang);
	const picture = (path: string) =>
		html`<img class="thumbnail" alt="" width="64" height="64" loading="lazy" src=${new URL(path, root).href}>`;
	return html`<li>
		${thumbnail && picture(thumbnail)}
		<h2>${link}</h2>
		${second && html`<p class="second" lang=${other}>${marked(second, words)}</p>`}
		${about && html`<p class="about">${marked(about, words)}</p>`}
		<p class="facts">
			<span><code>${smallkey}</code> ${copy}</span>
			<span>${typeText(entry.type)}</span>
			<span>${breakable(hostsOf(entry).join(" · "))}</span>
			${sender && html`<span>${marked(sender, words)}</span>`}
			${isSick ? html`<span class="badge">${stateText(health)}</span>` : ""}
		</p>
	</li>`;
}

/** A text with the matched words highlighted, and possible line breaks in long words. @param words stemmed */
function marked(text: string, words: ReadonlySet<string>): Content {
	return text.split(/([\p{L}\p{N}\p{M}]+)/u).map((one) => {
		const isWord = /^[\p{L}\p{N}]/u.test(one);
		if (isWord && words.has(stem(fold(one).slice(0, maxWordLength)))) return html`<mark>${one}</mark>`;
		return /[/_.\-?&=,]$/.test(one) ? html`${one}<wbr>` : one;
	});
}
