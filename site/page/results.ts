import type { Entry } from "../../registry/entries.ts";
import type { CatalogueProblem } from "../search/catalogue.ts";
import { hostsOf, senderOf, stateOf, titleOf } from "../search/entry.ts";
import { type Sort, sorts } from "../search/select.ts";
import { fold, stem } from "../search/words.ts";
import { firstShown, moreShown, type State } from "./address.ts";
import { copyButton } from "./copy.ts";
import { breakable, fill, h, newId } from "./dom.ts";
import { type Page, problemBox, stateLink, stateText, typeText } from "./page.ts";

/** What is shown of a search. */
export interface Shown {
	hits: readonly Entry[];
	/** The words that were found, stemmed. */
	words: readonly string[];
	/** Layers that were read, and all; null where it is not known. */
	read: number;
	all: number | null;
	problems: readonly CatalogueProblem[];
	isComplete: boolean;
}

/** The list of layers that were found, with their number and order. */
export class Results {
	readonly #page: Page;
	readonly #count = h("p", { class: "count", role: "status" });
	readonly #sort = h("select", { id: newId() });
	readonly #order: HTMLElement;
	readonly #problems = h("div", { class: "problems" });
	readonly #list = h("ol", { class: "results" });
	readonly #more: HTMLButtonElement;
	/** Smallkeys of the rows that are there, and what else they show: rows that stay are not made again. */
	#rows: string[] = [];
	/** The row that the focus continues with: the first one of those that *more* adds. */
	#next: number | null = null;
	#askMore = (): void => undefined;
	readonly element: HTMLElement;

	/** @param sorted is called with the order that was chosen */
	constructor(page: Page, sorted: (sort: Sort) => void) {
		this.#page = page;
		const { texts } = page;
		this.#list.setAttribute("aria-label", texts.results);
		this.#more = h("button", { hidden: true, onclick: () => this.#askMore() }, texts.more);
		this.#sort.append(...sorts.map((sort) => h("option", { value: sort }, texts.sorts[sort])));
		this.#sort.addEventListener("change", () => sorted(this.#sort.value as Sort));
		this.#order = h("p", { class: "order" }, h("label", { for: this.#sort.id }, texts.sort), this.#sort);
		const foot = h("div", { class: "more" }, this.#more);
		this.element = h(
			"div",
			{},
			h("div", { class: "resultshead" }, this.#count, this.#order),
			this.#problems,
			this.#list,
			foot,
		);
	}

	/** Says that a search is under way; what was found before stays meanwhile. */
	wait(): void {
		this.element.setAttribute("aria-busy", "true");
		if (this.#list.childElementCount === 0) fill(this.#count, this.#page.texts.loading);
	}

	show(state: State, shown: Shown, retry: () => void): void {
		const { texts } = this.#page;
		const isDone = shown.isComplete || shown.problems.length > 0;
		this.element.toggleAttribute("aria-busy", false);
		if (!isDone && shown.hits.length === 0) return this.wait();
		this.#sort.value = state.sort;
		this.#order.hidden = shown.hits.length === 0;
		fill(this.#count, this.#countText(shown, isDone));
		fill(this.#problems, problemBox(texts, shown.problems, retry));
		this.#fillRows(state, shown);
		this.#askMore = () => {
			this.#next = this.#list.childElementCount;
			this.#page.go({ ...state, shown: Math.max(state.shown, firstShown) + moreShown }, true);
		};
		if (this.#next !== null) this.#list.children[this.#next]?.querySelector<HTMLElement>("h2 a")?.focus();
		this.#next = null;
		this.#more.hidden = shown.hits.length <= state.shown;
	}

	#fillRows(state: State, { hits, words }: Shown): void {
		const look = [...words].join(" ");
		const href = this.#page.href({ ...state, shown: firstShown, layer: null });
		const rows = hits.slice(0, state.shown).map((hit) => `${hit.smallkey} ${href} ${look}`);
		const isMore = this.#rows.every((row, at) => row === rows[at]);
		const from = isMore ? this.#rows.length : 0;
		const set = new Set(words);
		const added = hits.slice(from, state.shown).map((hit) => this.#row(state, hit, set));
		if (isMore) this.#list.append(...added);
		else fill(this.#list, added);
		this.#rows = rows;
	}

	/** Puts the focus on a layer's link, where the layer is listed and the focus is nowhere else by now. */
	focusOn(smallkey: string): boolean {
		const { activeElement } = document;
		if (activeElement !== document.body && activeElement?.tagName !== "H1") return true;
		const links = this.#list.querySelectorAll<HTMLElement>("a");
		const link = [...links].find(({ dataset }) => dataset.layer === smallkey);
		link?.focus();
		return link !== undefined;
	}

	#countText({ hits, read, all, problems }: Shown, isDone: boolean): Node | string {
		const { texts } = this.#page;
		if (all === 0) return texts.empty;
		if (hits.length === 0 && problems.length > 0) return "";
		if (hits.length === 0) {
			return h("span", {}, h("strong", {}, texts.foundNone), " ", texts.foundNoneHint);
		}
		return isDone || all === null ? texts.found(hits.length) : texts.foundSoFar(hits.length, read, all);
	}

	#row(state: State, entry: Entry, words: ReadonlySet<string>): HTMLElement {
		const { lang, texts, root } = this.#page;
		const other = lang === "en" ? "fr" : "en";
		const { smallkey } = entry;
		const title = titleOf(entry, lang);
		const link = stateLink(this.#page, { ...state, layer: smallkey }, marked(title, words));
		link.dataset.layer = smallkey;
		const second = entry.title[other] !== entry.title[lang] ? entry.title[other] : "";
		const said = entry.description?.[lang] ?? "";
		const copy = copyButton(texts, texts.copySmallkey, () => smallkey, smallkey);
		const health = stateOf(entry);
		const sender = senderOf(entry, lang);
		const picture = entry.thumbnail && {
			src: new URL(entry.thumbnail, root).href,
			...{ alt: "", width: 64, height: 64, loading: "lazy", class: "thumbnail" },
		};
		return h(
			"li",
			{},
			picture && h("img", picture),
			h("h2", {}, link),
			second && h("p", { class: "second", lang: other }, marked(second, words)),
			said && h("p", { class: "about" }, marked(said, words)),
			h(
				"p",
				{ class: "facts" },
				h("span", {}, h("code", {}, smallkey), " ", copy),
				h("span", {}, typeText(texts, entry.type)),
				h("span", {}, breakable(hostsOf(entry).join(" · "))),
				sender && h("span", {}, marked(sender, words)),
				health !== "ok" && health !== "unchecked" && h("span", { class: "badge" }, stateText(texts, health)),
			),
		);
	}
}

/** A text with the words marked that a search found, and places where long words may break. @param words stemmed */
function marked(text: string, words: ReadonlySet<string>): DocumentFragment {
	const fragment = document.createDocumentFragment();
	for (const part of text.split(/([\p{L}\p{N}\p{M}]+)/u)) {
		if (part === "") continue;
		const isWord = /^[\p{L}\p{N}]/u.test(part);
		if (isWord && words.has(stem(fold(part).slice(0, 32)))) fragment.append(h("mark", {}, part));
		else fragment.append(part);
		if (/[/_.\-?&=,]$/.test(part)) fragment.append(document.createElement("wbr"));
	}
	return fragment;
}
