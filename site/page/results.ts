import { html, nothing } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { repeat } from "lit-html/directives/repeat.js";
import { otherLang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { hostsOf, type Sort, senderOf, sorts, titleOf } from "../search/select.ts";
import { fold, maxWordLength, stem } from "../search/words.ts";
import { type Content, problemBox, select, stateLink } from "./elements.ts";
import { addressOf, dayText, lang, plural, stateText, t, typeText } from "./page.ts";
import { currentState, firstShown, navigate, type State } from "./state.ts";

const sortLabels = { best: "best-match", title: "title", changed: "last-change" } as const;

export interface Results {
	state: State;
	hits: readonly Entry[];
	words: ReadonlySet<string>;
	isComplete: boolean;
	/** A new number draws a new list, in which no row of the earlier one moves. */
	serial: number;
}

/** @param isBusy a search is running */
export function renderResults(results: Results, isBusy: boolean, more: () => void, retry: () => void) {
	const { hits, state, words, serial } = results;
	const rows = repeat(
		hits.slice(0, state.n),
		({ smallkey }) => smallkey,
		(entry) => renderRow(state, entry, words),
	);
	return html`<div class="found" aria-busy=${isBusy ? "true" : nothing}>
		<div class="resultshead">
			<p class="count" role="status">${isBusy && hits.length === 0 ? t("searching") : countText(results)}</p>
			${renderOrder(state)}
		</div>
		<div>${problemBox(catalogue.problems, retry)}</div>
		${keyed(serial, html`<ol class="results" aria-label=${t("layers-found")}>${rows}</ol>`)}
		<div class="more"><button ?hidden=${hits.length <= state.n} @click=${more}>${t("show-more")}</button></div>
	</div>`;
}

/** Without a text, the best match is by title. */
function renderOrder({ q, sort }: State) {
	const hasText = q.trim() !== "";
	const chosen = sort === "best" && !hasText ? "title" : sort;
	const names = sorts.filter((name) => hasText || name !== "best");
	const options = names.map((name) => [name, t(sortLabels[name])] as const);
	const choose = (value: string) => navigate({ ...currentState(), sort: value as Sort, n: firstShown });
	return html`<p class="order">
		<label for="sort">${t("sort-by")}</label>${select("sort", chosen, options, choose)}
	</p>`;
}

function countText({ hits, isComplete }: Results): Content {
	const { layers, problems, selection } = catalogue;
	if (layers === 0) return t("no-layers-yet");
	if (hits.length === 0 && problems.length > 0) return "";
	if (hits.length === 0) return html`<strong>${t("no-match")}</strong>`;
	const count = plural(hits.length, "layer-count");
	return isComplete ? count : t("found-so-far", count, selection.size, layers ?? 0);
}

function renderRow(state: State, entry: Entry, words: ReadonlySet<string>) {
	const other = otherLang[lang];
	const { smallkey, title, thumbnail } = entry;
	const link = stateLink({ ...state, layer: smallkey }, markWords(titleOf(entry, lang), words));
	const second = title[other] !== title[lang] ? title[other] : "";
	const about = entry.description?.[lang];
	const sender = senderOf(entry, lang);
	const filterLink = (name: "sender" | "host", value: string) =>
		stateLink({ ...state, n: firstShown, layer: "", [name]: value }, markWords(value, words));
	const hosts = hostsOf(entry).map((host, index) => [index > 0 ? " · " : "", filterLink("host", host)]);
	const date = state.sort === "changed" && entry.changed?.date;
	const src = thumbnail && addressOf(thumbnail).href;
	return html`<li>
		${src ? html`<img class="thumbnail" alt="" width="88" height="88" loading="lazy" src=${src}>` : ""}
		<div>
		<h2>${link}</h2>
		${second && html`<p class="second" lang=${other}>${markWords(second, words)}</p>`}
		${about && html`<p class="about">${markWords(about, words)}</p>`}
		<p class="facts">
			<code>${smallkey}</code>
			<span>${typeText(entry.type)}</span>
			<span>${hosts}</span>
			${sender && html`<span>${filterLink("sender", sender)}</span>`}
			${date ? html`<time datetime=${date}>${dayText(new Date(date))}</time>` : ""}
			${entry.health ? html`<span class="badge">${stateText(entry.health.state)}</span>` : ""}
		</p>
		</div>
	</li>`;
}

/** Also lets long names break after their punctuation. */
function markWords(text: string, words: ReadonlySet<string>): Content {
	return text.split(/([\p{L}\p{N}\p{M}]+)/u).map((piece) => {
		const isWord = /^[\p{L}\p{N}]/u.test(piece);
		if (isWord && words.has(stem(fold(piece).slice(0, maxWordLength)))) return html`<mark>${piece}</mark>`;
		return /[/_.\-?&=,]$/.test(piece) ? html`${piece}<wbr>` : piece;
	});
}
