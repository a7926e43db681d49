import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { catalogue, renewCatalogue } from "../search/loaded-catalogue.ts";
import type { SelectionResult } from "../search/select.ts";
import { debounce, textIn } from "./elements.ts";
import { renderFilters } from "./filter-fields.ts";
import { refresh, siteName, t } from "./page.ts";
import { type Results, renderResults } from "./results.ts";
import {
	currentState,
	firstShown,
	maxText,
	moreShown,
	navigate,
	type State,
	type View,
	writeState,
} from "./state.ts";

/** Between updates while layers are loading. */
const updateMs = 200;

export class ListView implements View {
	readonly title = siteName;
	readonly #searchForm = new SearchForm();
	#shown: Results = { state: currentState(), hits: [], words: new Set(), isComplete: false, serial: 0 };
	#result: SelectionResult | null = null;
	#isBusy = true;
	/** Results of older searches are not shown. */
	#lastSerial = 0;
	#isSearching = false;
	#hasLayersSinceSearch = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** Gets the focus once it is listed; empty for none. */
	#layerToFocus: string;

	constructor(lastLayer: string, signal: AbortSignal) {
		this.#layerToFocus = lastLayer;
		signal.addEventListener("abort", () => {
			this.#lastSerial += 1;
			this.#searchForm.close();
			clearTimeout(this.#timer);
			catalogue.onChange = () => undefined;
		});
		catalogue.onChange = () => this.#showLoaded();
		void catalogue.load();
	}

	content(state: State) {
		const more = () => {
			const { state, hits } = this.#shown;
			this.#layerToFocus = hits[state.n]?.smallkey ?? "";
			navigate({ ...state, n: state.n + moreShown }, "replace");
		};
		const retry = () => {
			renewCatalogue();
			void catalogue.load();
			void this.update(currentState());
		};
		return html`<div>
			${this.#searchForm.content(state)}
			<div class="finder">
				${renderFilters(state, catalogue.isComplete ? this.#result : null)}
				${renderResults(this.#shown, this.#isBusy, more, retry)}
			</div>
		</div>`;
	}

	async update(state: State): Promise<void> {
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		this.#isSearching = true;
		this.#hasLayersSinceSearch = false;
		const wasComplete = catalogue.isComplete;
		const text = state.q.trim();
		if (text !== "") {
			this.#isBusy = true;
			refresh();
		}
		const match = await (text === "" ? null : catalogue.match(text));
		if (serial !== this.#lastSerial) return;
		this.#isSearching = false;
		this.#result = catalogue.selection.select(match?.ids ?? null, state);
		const { hits } = this.#result;
		const { isComplete } = catalogue;
		this.#show({ hits, state, words: new Set(match?.words), isComplete: wasComplete, serial });
		if (isComplete) void import("./layer-view.ts").catch(() => undefined);
		refresh();
		if (this.#hasLayersSinceSearch) this.#showLoaded();
		if (this.#layerToFocus !== "" && (focusRow(this.#layerToFocus) || isComplete)) this.#layerToFocus = "";
	}

	/** A full list stays until all layers are read, so that no row moves. A running search is answered first. */
	#showLoaded() {
		const { hits, state } = this.#shown;
		if (!catalogue.isRead && hits.length >= firstShown && isSameSearch(state, currentState())) return;
		const searchAgain = () => {
			this.#timer = undefined;
			if (this.#isSearching) this.#hasLayersSinceSearch = true;
			else void this.update(currentState());
		};
		this.#timer ??= setTimeout(searchAgain, hits.length === 0 ? 0 : updateMs);
	}

	/** An earlier answer to the same text stays until a better one. */
	#show(results: Results) {
		const { hits, state } = results;
		const shown = this.#shown;
		const isSame = isSameSearch(shown.state, state);
		const isBetter = hits.length >= shown.hits.length || !isSame;
		const isLoading = !catalogue.isComplete && catalogue.problems.length === 0;
		this.#isBusy = isLoading && (hits.length === 0 || !isBetter);
		if (this.#isBusy) return;
		const isRead = document.activeElement?.closest(".results") != null;
		const isNew = !isRead && (!isSame || state.n === shown.state.n);
		this.#shown = isNew ? results : { ...results, serial: shown.serial };
	}
}

function isSameSearch(first: State, other: State): boolean {
	return writeState({ ...first, n: 0 }) === writeState({ ...other, n: 0 });
}

/** Keeps a focus that the user has moved. @returns false if the layer is not listed */
function focusRow(smallkey: string): boolean {
	if (!document.activeElement?.matches("body, h1, .more button")) return true;
	const link = document.querySelector<HTMLElement>(`.results [data-layer="${smallkey}"]`);
	link?.focus();
	return link !== null;
}

const pauseMs = 120;

class SearchForm {
	/** Null if the address has the typed text. */
	#typed: string | null = null;
	/** More typing is no further step for *Back*. */
	#isSameSearch = false;
	readonly #searchLater = debounce(pauseMs, () => this.#search());

	// The placeholder lets print styles hide an empty box (`:placeholder-shown`).
	content({ q }: State) {
		return html`<form role="search" class="search" @submit=${this.#finish}>
			<h1 tabindex="-1">${siteName}</h1>
			<p class="tagline">${t("tagline")}</p>
			<label for="search">${t("search-layers")}</label>
			<input type="search" role="searchbox" id="search" autocomplete="off" spellcheck="false" enterkeyhint="search"
				placeholder=" " aria-describedby="searchhint" maxlength=${maxText}
				.value=${live(this.#typed ?? q)} @input=${this.#input} @change=${this.#finish}>
			<p class="hint" id="searchhint">${t("search-hint")}</p>
		</form>`;
	}

	close(): void {
		this.#typed = null;
	}

	/** *Back* restores the state before the first typed letter. */
	#search() {
		if (this.#typed === null) return;
		const q = this.#typed;
		this.#typed = null;
		navigate({ ...currentState(), q, n: firstShown }, this.#isSameSearch ? "replace" : "push");
		this.#isSameSearch = true;
	}

	readonly #input = (event: Event) => {
		this.#typed = textIn(event);
		this.#searchLater();
	};

	readonly #finish = (event: Event) => {
		event.preventDefault();
		this.#search();
		this.#isSameSearch = false;
	};
}
