import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { catalogue, renewCatalogue } from "../search/loaded-catalogue.ts";
import type { Chosen } from "../search/select.ts";
import {
	type Content,
	currentState,
	debounce,
	field,
	filters,
	firstShown,
	go,
	maxText,
	moreShown,
	plural,
	refresh,
	type State,
	select,
	siteName,
	stateText,
	t,
	textIn,
	typeText,
	type View,
	writeState,
} from "./page.ts";
import { type Results, results } from "./results.ts";

/** Pause in typing before a search, and time between updates while layers are loading. */
const pauseMs = 120;
const followMs = 200;

export class ListView implements View {
	readonly title = siteName;
	readonly #search = createSearchForm();
	#shown: Results = { state: currentState(), hits: [], words: new Set(), isComplete: false, serial: 0 };
	#chosen: Chosen | null = null;
	#isBusy = true;
	/** Results of older searches are not shown. */
	#lastSerial = 0;
	/** Whether layers were read since the search began. */
	#isSearching = false;
	#isOutdated = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	/** Its row gets the focus once it is listed, such as the first that *Show more* adds; empty for none. */
	#focused: string;

	/** @param left the layer that was open before; its row gets the focus */
	constructor(left: string, signal: AbortSignal) {
		this.#focused = left;
		signal.addEventListener("abort", () => {
			this.#lastSerial += 1;
			this.#search.drop();
			clearTimeout(this.#timer);
			catalogue.onChange = () => undefined;
		});
		catalogue.onChange = () => this.#showLoaded();
		void catalogue.load();
	}

	content(state: State): TemplateResult {
		const more = () => {
			const { state, hits } = this.#shown;
			this.#focused = hits[state.n]?.smallkey ?? "";
			go({ ...state, n: state.n + moreShown }, true);
		};
		const retry = () => {
			renewCatalogue();
			void catalogue.load();
			void this.update(currentState());
		};
		return html`<div>
			${this.#search.content(state)}
			<div class="finder">
				${filterFields(state, catalogue.isComplete ? this.#chosen : null)}
				${results(this.#shown, this.#isBusy, more, retry)}
			</div>
		</div>`;
	}

	async update(state: State): Promise<void> {
		this.#lastSerial += 1;
		const serial = this.#lastSerial;
		this.#isSearching = true;
		this.#isOutdated = false;
		const wasComplete = catalogue.isComplete;
		const text = state.q.trim();
		if (text !== "") {
			this.#isBusy = true;
			refresh();
		}
		const match = await (text === "" ? null : catalogue.match(text));
		if (serial !== this.#lastSerial) return;
		this.#isSearching = false;
		this.#chosen = catalogue.selection.select(match?.ids ?? null, state);
		const { hits } = this.#chosen;
		const { isComplete } = catalogue;
		this.#show({ hits, state, words: new Set(match?.words), isComplete: wasComplete, serial });
		if (isComplete) void import("./layer-view.ts").catch(() => undefined);
		refresh();
		if (this.#isOutdated) this.#showLoaded();
		if (this.#focused !== "" && (focusOn(this.#focused) || isComplete)) this.#focused = "";
	}

	/**
	 * A list that fills its place stays until all layers are read, so that no row moves. A running search is
	 * answered first.
	 */
	#showLoaded(): void {
		const { hits, state } = this.#shown;
		if (!catalogue.isRead && hits.length >= firstShown && isSameText(state, currentState())) return;
		const searchAgain = () => {
			this.#timer = undefined;
			if (this.#isSearching) this.#isOutdated = true;
			else void this.update(currentState());
		};
		this.#timer ??= setTimeout(searchAgain, hits.length === 0 ? 0 : followMs);
	}

	/** An earlier answer of the same text stays until there is a better one. */
	#show(found: Results): void {
		const { hits, state } = found;
		const shown = this.#shown;
		const isSame = isSameText(shown.state, state);
		const isBetter = hits.length >= shown.hits.length || !isSame;
		const isLoading = !catalogue.isComplete && catalogue.problems.length === 0;
		this.#isBusy = isLoading && (hits.length === 0 || !isBetter);
		if (this.#isBusy) return;
		const isRead = document.activeElement?.closest(".results") != null;
		const isNew = !isRead && (!isSame || state.n === shown.state.n);
		this.#shown = isNew ? found : { ...found, serial: shown.serial };
	}
}

function createSearchForm() {
	/** Null if the address has the typed text. */
	let typed: string | null = null;
	/** Whether more typing belongs to the same search, and is no further step for *Back*. */
	let isSameSearch = false;

	/** *Back* restores the state before the first typed letter. */
	const take = () => {
		if (typed === null) return;
		const q = typed;
		typed = null;
		go({ ...currentState(), q, n: firstShown }, isSameSearch);
		isSameSearch = true;
	};
	const takeLater = debounce(pauseMs, take);
	const settle = (event: Event) => {
		event.preventDefault();
		take();
		isSameSearch = false;
	};
	const input = (event: Event) => {
		typed = textIn(event);
		takeLater();
	};
	const drop = () => {
		typed = null;
	};
	// The placeholder lets print styles hide an empty box (`:placeholder-shown`).
	const content = (state: State) => html`<form role="search" class="search" @submit=${settle}>
		<h1 tabindex="-1">${siteName}</h1>
		<p class="tagline">${t("tagline")}</p>
		<label for="search">${t("search-layers")}</label>
		<input type="search" role="searchbox" id="search" autocomplete="off" spellcheck="false" enterkeyhint="search"
			placeholder=" " aria-describedby="searchhint" maxlength=${maxText}
			.value=${live(typed ?? state.q)} @input=${input} @change=${settle}>
		<p class="hint" id="searchhint">${t("search-hint")}</p>
	</form>`;
	return { content, drop };
}

function isSameText(first: State, other: State): boolean {
	return writeState({ ...first, n: 0 }, false) === writeState({ ...other, n: 0 }, false);
}

/** Keeps a focus that the user has moved. @returns false if the layer is not listed yet */
function focusOn(smallkey: string): boolean {
	if (!document.activeElement?.matches("body, h1, .more button")) return true;
	const link = document.querySelector<HTMLElement>(`.results [data-layer="${smallkey}"]`);
	link?.focus();
	return link !== null;
}

const maxOffered = 500;

const groups = [
	["type", "type", typeText],
	["health", "health", stateText],
	["sender", "publisher", String],
	["host", "service-host", String],
] as const;

const isWide = matchMedia("(min-width: 64rem)").matches;

function filterFields(state: State, chosen: Chosen | null): TemplateResult {
	const count = filters.filter((name) => state[name] !== "").length;
	const clear = () => set(Object.fromEntries(filters.map((name) => [name, ""])));
	return html`<details class="filters" ?open=${isWide}>
		<summary>${count > 0 ? plural(count, "filters-on") : t("filters")}</summary>
		${chosen ? groups.map((group) => facet(group, state, chosen)) : ""}
		<button class="small" ?hidden=${count === 0} @click=${clear}>${t("remove-filters")}</button>
	</details>`;
}

function set(changes: Partial<State>): void {
	go({ ...currentState(), n: firstShown, ...changes });
}

function facet([name, code, textOf]: (typeof groups)[number], state: State, { facets }: Chosen): Content {
	const chosen = state[name];
	const values = facets[name].slice(0, maxOffered);
	if (values.length === 0 && chosen === "") return "";
	const isListed = chosen === "" || values.some(([value]) => value === chosen);
	const all = isListed ? values : [[chosen, 0] as const, ...values];
	const options = all.map(([value, count]) => [value, `${textOf(value)} (${count})`] as const);
	const choose = (value: string) => set({ [name]: value });
	return field(name, t(code), select(name, chosen, [["", t("any")], ...options], choose));
}
