import type { Bounds } from "../../registry/entries.ts";
import { titleOf } from "../search/entry.ts";
import type { Chosen, Sort } from "../search/select.ts";
import { filterCount, firstShown, longestText, type State } from "./address.ts";
import { debounce, fill, h, newId } from "./dom.ts";
import { Filters } from "./filters.ts";
import { dayText, type Page, stateLink, type View } from "./page.ts";
import { Results } from "./results.ts";

/** How long typing pauses before a search, and how often the list follows what is being read, in milliseconds. */
const pauseMs = 120;
const followMs = 200;

/** After so long without typing, further typing is another search for *Back*, in milliseconds. */
const settledMs = 1_500;

/** Layers that are named as new. */
const maxNew = 3;

/** Search as you type, filters, and what was found. */
export class ListView implements View {
	readonly #page: Page;
	readonly #box: HTMLInputElement;
	readonly #filters: Filters;
	/** What is above the list while there is no search: the number of layers, and the last changes. */
	readonly #home = h("div", { class: "home" });
	readonly #results: Results;
	readonly element: HTMLElement;
	/** Number of the newest search: the result of an older one is not shown. */
	#serial = 0;
	/** The layer to go back to in the list; null: none. */
	#left: string | null;
	/** When the text was typed that the address does not have yet; null: there is none. */
	#typedAt: number | null = null;
	/** Until when typing belongs to the search before. */
	#sameUntil = 0;

	/** @param left the layer that was open before: the focus goes back to it, and the list to where it is */
	constructor(page: Page, left: string | null) {
		this.#page = page;
		this.#left = left;
		const { texts, catalogue } = page;
		const hint = h("p", { class: "hint", id: newId() }, texts.searchHint);
		this.#box = h("input", {
			type: "search",
			role: "searchbox",
			id: newId(),
			autocomplete: "off",
			spellcheck: "false",
			enterkeyhint: "search",
			// On paper the box is left out while it is empty (`:placeholder-shown`).
			placeholder: " ",
			"aria-describedby": hint.id,
		});
		this.#filters = new Filters(page, (state, replace) => page.go(state, replace));
		this.#results = new Results(page, (sort: Sort) => page.go({ ...page.state(), sort, shown: firstShown }));
		const typed = debounce(pauseMs, () => this.#takeText());
		this.#box.addEventListener("input", ({ timeStamp }) => {
			this.#typedAt = timeStamp;
			typed();
		});
		const settle = () => {
			this.#takeText();
			this.#sameUntil = 0;
		};
		this.#box.addEventListener("change", settle);
		this.element = h(
			"div",
			{ class: "layers" },
			h(
				"form",
				{
					role: "search",
					class: "search",
					onsubmit: (event) => {
						event.preventDefault();
						settle();
					},
				},
				h("h1", { tabindex: "-1" }, texts.title),
				h("p", { class: "tagline" }, texts.tagline),
				h("label", { for: this.#box.id }, texts.search),
				this.#box,
				hint,
				this.#filters.element,
			),
			this.#home,
			this.#results.element,
		);
		const follow = throttle(followMs, () => void this.#search(page.state()));
		catalogue.onChange = follow;
		void catalogue.load();
	}

	title(): string {
		return this.#page.texts.title;
	}

	update(state: State): void {
		const isTyping = this.#typedAt !== null;
		if (!isTyping && this.#box.value.slice(0, longestText) !== state.text) this.#box.value = state.text;
		this.#filters.update(state);
		void this.#search(state);
	}

	close(): void {
		this.#serial += 1;
		this.#page.catalogue.onChange = () => undefined;
	}

	/** Puts what was typed into the address; *Back* brings what was there before one began to type. */
	#takeText(): void {
		if (this.#typedAt === null) return;
		const isSame = this.#typedAt < this.#sameUntil;
		this.#sameUntil = this.#typedAt + settledMs;
		this.#typedAt = null;
		this.#page.go({ ...this.#page.state(), text: this.#box.value, shown: firstShown }, isSame);
	}

	async #search(state: State): Promise<void> {
		this.#serial += 1;
		const serial = this.#serial;
		const { catalogue } = this.#page;
		const text = state.text.trim();
		if (text !== "" || state.view) this.#results.wait();
		const [matched, bounds] = await Promise.all([
			text === "" ? null : catalogue.match(text),
			state.view && this.#boundsOf(state),
		]);
		if (serial !== this.#serial) return;
		const chosen = catalogue.selection.select(matched?.ids ?? null, { ...state, bounds });
		this.#show(state, chosen, matched?.words ?? []);
	}

	async #boundsOf({ view }: State): Promise<Bounds | null> {
		const { boundsOfBox } = await import("../map/degrees.ts");
		return view && boundsOfBox(view, this.#page.settings.mapWkid);
	}

	#show(state: State, chosen: Chosen, words: readonly string[]): void {
		const { catalogue } = this.#page;
		const retry = () => {
			catalogue.renew();
			void catalogue.load();
			void this.#search(this.#page.state());
		};
		const { layers: all, problems, isComplete, selection } = catalogue;
		const shown = { hits: chosen.hits, words, read: selection.size, all, problems, isComplete };
		this.#results.show(state, shown, retry);
		this.#filters.offer(chosen);
		this.#showHome(state.text.trim() !== "" || filterCount(state) > 0, chosen.facets);
		if (this.#left !== null && (this.#results.focusOn(this.#left) || isComplete)) this.#left = null;
	}

	/** @param facets values of each filter, over all layers */
	#showHome(isAsking: boolean, facets: Chosen["facets"]): void {
		const { texts, catalogue, lang } = this.#page;
		const { selection, isComplete } = catalogue;
		this.#home.hidden = isAsking || !isComplete || selection.size === 0;
		if (this.#home.hidden) return;
		const rows = selection.newest(maxNew).map((entry) => {
			const state = { ...this.#page.state(), layer: entry.smallkey };
			const { date } = entry.changed ?? { date: "" };
			const time = h("time", { datetime: date }, dayText(lang, new Date(date)));
			return h("li", {}, stateLink(this.#page, state, titleOf(entry, lang)), " ", time);
		});
		fill(
			this.#home,
			h("p", {}, texts.homeCounts(selection.size, facets.host.length, facets.sender.length)),
			rows.length > 0 && h("h2", {}, texts.homeNew),
			rows.length > 0 && h("ul", { class: "newest" }, rows),
		);
	}
}

/** Calls at once, and at most once in some time; the last of several calls is never lost. */
function throttle(everyMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	let isAsked = false;
	const run = () => {
		call();
		timer = setTimeout(() => {
			timer = undefined;
			if (isAsked) run();
		}, everyMs);
		isAsked = false;
	};
	return () => {
		if (timer === undefined) run();
		else isAsked = true;
	};
}
