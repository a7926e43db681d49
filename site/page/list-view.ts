import { search } from "../catalogue/search.ts";
import { filterCount, firstShown, queryOf, type State } from "./address.ts";
import { debounce, h, newId } from "./dom.ts";
import { Filters } from "./filters.ts";
import type { Page, View } from "./page.ts";
import { Results } from "./results.ts";

/** How long typing pauses before a search, in milliseconds. */
const pauseMs = 120;

/** Search as you type, filters, and what was found. */
export class ListView implements View {
	readonly #page: Page;
	readonly #box: HTMLInputElement;
	readonly #filters: Filters;
	readonly #results: Results;
	readonly element: HTMLElement;
	/** Number of the search that counts: an older one that comes later is not shown. */
	#serial = 0;
	/** The layer to go back to in the list; null: none. */
	#left: string | null;

	/** @param left the layer that was looked at before: the focus goes back to it, and the list to where it stands */
	constructor(page: Page, left: string | null) {
		this.#page = page;
		this.#left = left;
		const { texts } = page;
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
		this.#filters = new Filters(page, (state) => page.go(state, true));
		this.#results = new Results(page);
		const typed = debounce(pauseMs, () => {
			page.go({ ...page.state(), text: this.#box.value, shown: firstShown }, true);
		});
		this.#box.addEventListener("input", typed);
		this.element = h(
			"div",
			{ class: "layers" },
			h(
				"form",
				{ role: "search", class: "search", onsubmit: (event) => event.preventDefault() },
				h("h1", { tabindex: "-1" }, texts.title),
				h("p", { class: "tagline" }, texts.tagline),
				h("label", { for: this.#box.id }, texts.search),
				this.#box,
				hint,
				this.#filters.element,
			),
			this.#results.element,
		);
	}

	title(): string {
		return this.#page.texts.title;
	}

	update(state: State): void {
		if (document.activeElement !== this.#box) this.#box.value = state.text;
		this.#filters.update(state);
		void this.#search(state);
	}

	close(): void {
		this.#serial += 1;
	}

	async #search(state: State, isAgain = false): Promise<void> {
		this.#serial += 1;
		const serial = this.#serial;
		const { pieces } = this.#page;
		this.#results.wait();
		const all = await pieces.count().catch(() => null);
		const found = await search(pieces, queryOf(state), state.shown);
		if (serial !== this.#serial) return;
		// A publication in between: what is cached does not fit what is there now.
		if (found.problems.some(({ kind }) => kind === "piece") && !isAgain) {
			pieces.renew();
			return this.#search(state, true);
		}
		const retry = () => {
			pieces.renew();
			void this.#search(state, true);
		};
		const isAsking = state.text.trim() !== "" || filterCount(state) > 0;
		this.#results.show(state, found, all, isAsking, retry);
		if (this.#left !== null) this.#results.focusOn(this.#left);
		this.#left = null;
	}
}
