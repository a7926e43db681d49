import { html, nothing, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { repeat } from "lit-html/directives/repeat.js";
import { otherLang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { catalogue } from "../search/loaded-catalogue.ts";
import { hostsOf, type Sort, senderOf, sorts, titleOf } from "../search/select.ts";
import { fold, maxWordLength, stem } from "../search/words.ts";
import {
	type Content,
	currentState,
	dayText,
	firstShown,
	go,
	lang,
	layers,
	problemBox,
	root,
	type State,
	select,
	stateLink,
	stateText,
	t,
	typeText,
} from "./page.ts";

const sortTexts = { best: "best-match", title: "title", changed: "last-change" } as const;

export interface Results {
	state: State;
	hits: readonly Entry[];
	words: ReadonlySet<string>;
	isComplete: boolean;
	/** A list with another number is drawn anew. */
	serial: number;
}

/** @param isBusy another search is running; the earlier result stays until it ends */
export function results(
	current: Results,
	isBusy: boolean,
	more: () => void,
	retry: () => void,
): TemplateResult {
	const { hits, state, words, serial } = current;
	const sort = (value: string) => go({ ...currentState(), sort: value as Sort, n: firstShown });
	const hasWords = state.q.trim() !== "";
	const names = sorts.filter((name) => hasWords || name !== "best");
	const chosen = hasWords || state.sort !== "best" ? state.sort : "title";
	const orders = names.map((name) => [name, t(sortTexts[name])] as const);
	const rows = repeat(
		hits.slice(0, state.n),
		({ smallkey }) => smallkey,
		(hit) => row(state, hit, words),
	);
	// A new list has new elements, so that no row of the earlier one moves.
	const list = keyed(serial, html`<ol class="results" aria-label=${t("layers-found")}>${rows}</ol>`);
	return html`<div class="found" aria-busy=${isBusy ? "true" : nothing}>
		<div class="resultshead">
			<p class="count" role="status">${isBusy && hits.length === 0 ? t("searching") : countText(current)}</p>
			<p class="order">
				<label for="sort">${t("sort-by")}</label>${select("sort", chosen, orders, sort)}
			</p>
		</div>
		<div>${problemBox(catalogue.problems, retry)}</div>
		${list}
		<div class="more"><button ?hidden=${hits.length <= state.n} @click=${more}>${t("show-more")}</button></div>
	</div>`;
}

function countText({ hits: { length: hits }, isComplete }: Results): Content {
	const { layers: all, problems, selection } = catalogue;
	if (all === 0) return t("no-layers-yet");
	if (hits === 0 && problems.length > 0) return "";
	if (hits === 0) return html`<strong>${t("no-match")}</strong>`;
	return isComplete ? layers(hits) : t("found-so-far", layers(hits), selection.size, all ?? 0);
}

function row(state: State, entry: Entry, words: ReadonlySet<string>): TemplateResult {
	const other = otherLang[lang];
	const { smallkey, thumbnail } = entry;
	const link = stateLink({ ...state, layer: smallkey }, marked(titleOf(entry, lang), words));
	const second = entry.title[other] !== entry.title[lang] ? entry.title[other] : "";
	const about = entry.description?.[lang];
	const sender = senderOf(entry, lang);
	const filtered = (name: "sender" | "host", value: string) =>
		stateLink({ ...state, n: firstShown, layer: "", [name]: value }, marked(value, words));
	const hosts = hostsOf(entry).map((host, index) => [index > 0 ? " · " : "", filtered("host", host)]);
	const date = state.sort === "changed" && entry.changed?.date;
	return html`<li>
		${thumbnail === undefined ? "" : html`<img class="thumbnail" alt="" width="88" height="88" loading="lazy" src=${new URL(thumbnail, root).href}>`}
		<div>
		<h2>${link}</h2>
		${second && html`<p class="second" lang=${other}>${marked(second, words)}</p>`}
		${about && html`<p class="about">${marked(about, words)}</p>`}
		<p class="facts">
			<code>${smallkey}</code>
			<span>${typeText(entry.type)}</span>
			<span>${hosts}</span>
			${sender && html`<span>${filtered("sender", sender)}</span>`}
			${date ? html`<time datetime=${date}>${dayText(new Date(date))}</time>` : ""}
			${entry.health ? html`<span class="badge">${stateText(entry.health.state)}</span>` : ""}
		</p>
		</div>
	</li>`;
}

function marked(text: string, words: ReadonlySet<string>): Content {
	return text.split(/([\p{L}\p{N}\p{M}]+)/u).map((piece) => {
		const isWord = /^[\p{L}\p{N}]/u.test(piece);
		if (isWord && words.has(stem(fold(piece).slice(0, maxWordLength)))) return html`<mark>${piece}</mark>`;
		return /[/_.\-?&=,]$/.test(piece) ? html`${piece}<wbr>` : piece;
	});
}
