import { hostsOf, type Name } from "../../registry/index/entry.ts";
import type { Found } from "../catalogue/search.ts";
import { firstShown, moreShown, type State } from "./address.ts";
import { breakable, fill, h } from "./dom.ts";
import { type Page, stateLink, stateText, typeText } from "./page.ts";
import { problemBox } from "./problem-box.ts";

/** The list of layers that were found, with what is said of it. */
export class Results {
	readonly #page: Page;
	readonly #count = h("p", { class: "count", role: "status" });
	readonly #problems = h("div", { class: "problems" });
	readonly #list = h("ol", { class: "results" });
	readonly #more: HTMLButtonElement;
	/** The row that the focus goes on to: the first one of those that *more* brings. */
	#next: number | null = null;
	#askMore = (): void => undefined;
	readonly element: HTMLElement;

	constructor(page: Page) {
		this.#page = page;
		this.#list.setAttribute("aria-label", page.texts.results);
		this.#more = h(
			"button",
			{ type: "button", hidden: true, onclick: () => this.#askMore() },
			page.texts.more,
		);
		const foot = h("div", { class: "more" }, this.#more);
		this.element = h("div", {}, this.#count, this.#problems, this.#list, foot);
	}

	/** Says that a search is under way; what was found before stays meanwhile. */
	wait(): void {
		this.element.setAttribute("aria-busy", "true");
		if (this.#list.childElementCount === 0) fill(this.#count, this.#page.texts.loading);
	}

	/** @param all number of all layers; null where it is not known */
	show(state: State, found: Found, all: number | null, isAsking: boolean, retry: () => void): void {
		const { texts } = this.#page;
		this.element.removeAttribute("aria-busy");
		fill(this.#count, this.#countText(found, all, isAsking));
		fill(this.#problems, problemBox(texts, found.problems, retry));
		fill(
			this.#list,
			found.hits.map((name) => this.#row(state, name)),
		);
		this.#askMore = () => {
			this.#next = found.hits.length;
			this.#page.go({ ...state, shown: Math.max(state.shown, firstShown) + moreShown }, true);
		};
		if (this.#next !== null) this.#list.querySelectorAll<HTMLElement>("h2 a")[this.#next]?.focus();
		this.#next = null;
		this.#more.hidden = found.isComplete || found.hits.length === 0;
	}

	/** Puts the focus on a layer's link, where the layer is listed and nobody went on meanwhile. */
	focusOn(smallkey: string): void {
		const { activeElement } = document;
		if (activeElement !== document.body && activeElement?.tagName !== "H1") return;
		const links = this.#list.querySelectorAll<HTMLElement>("a");
		[...links].find(({ dataset }) => dataset.layer === smallkey)?.focus();
	}

	#countText({ hits, isComplete, problems }: Found, all: number | null, isAsking: boolean): Node | string {
		const { texts } = this.#page;
		if (all === 0) return texts.empty;
		if (hits.length === 0 && problems.length > 0) return "";
		if (hits.length === 0) {
			return h("span", {}, h("strong", {}, texts.foundNone), " ", texts.foundNoneHint);
		}
		if (isComplete) return texts.found(hits.length);
		return !isAsking && all !== null ? texts.foundOf(hits.length, all) : texts.foundMore(hits.length);
	}

	#row(state: State, name: Name): HTMLElement {
		const { lang, texts } = this.#page;
		const other = lang === "en" ? "fr" : "en";
		const title = name.title[lang] || name.smallkey;
		const link = stateLink(this.#page, { ...state, layer: name.smallkey }, breakable(title));
		link.dataset.layer = name.smallkey;
		const second = name.title[other] !== name.title[lang] ? name.title[other] : "";
		return h(
			"li",
			{},
			h("h2", {}, link),
			second && h("p", { class: "second", lang: other }, breakable(second)),
			h(
				"p",
				{ class: "facts" },
				h("code", {}, name.smallkey),
				h("span", {}, typeText(texts, name.type)),
				h("span", {}, breakable(hostsOf(name).join(" · "))),
				name.sender && h("span", {}, name.sender),
				name.health && h("span", { class: "badge" }, stateText(texts, name.health)),
			),
		);
	}
}
