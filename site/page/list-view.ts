import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { catalogue, renewCatalogue } from "../search/loaded-catalogue.ts";
import { type Chosen, titleOf } from "../search/select.ts";
import {
	boundsOf,
	boxOf,
	filterCount,
	firstShown,
	maxText,
	moreShown,
	type State,
	writeState,
} from "./address.ts";
import { type Content, debounce, textIn, whenIdle } from "./dom.ts";
import { Filters } from "./filters.ts";
import {
	currentState,
	dayText,
	go,
	lang,
	layers,
	plural,
	refresh,
	settings,
	siteName,
	stateLink,
	t,
	type View,
} from "./page.ts";
import { type Results, results } from "./results.ts";

/** Pause in typing before a search, and time between updates while layers are loading. */
const pauseMs = 120;
const followMs = 200;

/** Pause in typing after which further typing is a new search with its own step for *Back*. */
const settledMs = 1_500;

const maxNew = 3;

export class ListView implements View {
	readonly title = siteName;
	readonly #filters = new Filters();
	#results: Results = { state: currentState(), hits: [], words: new Set(), isComplete: false, serial: 0 };
	#chosen: Chosen | null = null;
	#isBusy = true;
	/** Results of older searches are not shown. */
	#serial = 0;
	/** Its row gets the focus once it is listed, such as the first that *Show more* adds; empty for none. */
	#focused: string;
	/** The typed text; null if the address has it. */
	#typed: string | null = null;
	/** Text that is typed before this time belongs to the previous search. */
	#sameSearchUntil = 0;
	/** Whether layers were read since the search began. */
	#isSearching = false;
	#isOutdated = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	readonly #takeTextLater = debounce(pauseMs, () => this.#takeText());

	/** @param left the layer that was open before; its row gets the focus */
	constructor(
		left: string,
		readonly signal: AbortSignal,
	) {
		this.#focused = left;
		signal.addEventListener("abort", () => {
			this.#serial += 1;
			this.#typed = null;
			clearTimeout(this.#timer);
			this.#filters.close();
			catalogue.onChange = () => undefined;
		});
		catalogue.onChange = () => this.#showLoaded();
		void catalogue.load();
	}

	content(state: State): TemplateResult {
		const settle = (event: Event) => {
			event.preventDefault();
			this.#takeText();
			this.#sameSearchUntil = 0;
		};
		const input = (event: Event) => {
			this.#typed = textIn(event);
			this.#takeTextLater();
		};
		const more = () => {
			const { state: shownState, hits } = this.#results;
			this.#focused = hits[shownState.n]?.smallkey ?? "";
			go({ ...shownState, n: shownState.n + moreShown }, true);
		};
		const retry = () => {
			renewCatalogue();
			void catalogue.load();
			void this.#search(currentState());
		};
		// The placeholder lets print styles hide an empty box (`:placeholder-shown`).
		const shownChoices = catalogue.isComplete ? this.#chosen : null;
		return html`<div class="layers">
			<form role="search" class="search" @submit=${settle}>
				<h1 tabindex="-1">${this.title}</h1>
				<p class="tagline">${t("tagline")}</p>
				<label for="search">${t("search-layers")}</label>
				<input type="search" role="searchbox" id="search" autocomplete="off" spellcheck="false" enterkeyhint="search"
					placeholder=" " aria-describedby="searchhint" maxlength=${maxText}
					.value=${live(this.#typed ?? state.q)} @input=${input} @change=${settle}>
				<p class="hint" id="searchhint">${t("search-hint")}</p>
			</form>
			<div class="finder">
				${this.#filters.content(state, shownChoices)}
				${results(this.#results, this.#isBusy, more, retry)}
				${this.#filters.mapContent(state)}
				${this.#home(this.#results.state)}
			</div>
		</div>`;
	}

	update(state: State): void {
		this.#filters.update(state);
		void this.#search(state);
	}

	/** *Back* restores the state before the first typed letter. */
	#takeText(): void {
		if (this.#typed === null) return;
		const now = performance.now();
		const isSame = now < this.#sameSearchUntil;
		this.#sameSearchUntil = now + settledMs;
		const q = this.#typed;
		this.#typed = null;
		go({ ...currentState(), q, n: firstShown }, isSame);
	}

	/**
	 * A list that fills its place stays until all layers are read, so that no row moves. A running search is
	 * answered first.
	 */
	#showLoaded(): void {
		const search = () => {
			this.#timer = undefined;
			if (this.#isSearching) this.#isOutdated = true;
			else void this.#search(currentState());
		};
		const { hits, state } = this.#results;
		if (!catalogue.isRead && hits.length >= firstShown && isSameSearch(state, currentState())) return;
		this.#timer ??= setTimeout(search, hits.length === 0 ? 0 : followMs);
	}

	async #search(state: State): Promise<void> {
		this.#serial += 1;
		const serial = this.#serial;
		this.#isSearching = true;
		this.#isOutdated = false;
		const wasComplete = catalogue.isComplete;
		const text = state.q.trim();
		const box = boxOf(state.view);
		if (text !== "" || box) {
			this.#isBusy = true;
			refresh();
		}
		const [match, bounds] = await Promise.all([
			text === "" ? null : catalogue.match(text),
			box && boundsOf(box, settings.mapWkid),
		]);
		if (serial !== this.#serial) return;
		this.#isSearching = false;
		this.#chosen = catalogue.selection.select(match?.ids ?? null, { ...state, bounds });
		const { isComplete } = catalogue;
		this.#showChosen(this.#chosen, { state, words: new Set(match?.words), isComplete: wasComplete, serial });
		if (isComplete)
			whenIdle(() => {
				catalogue.text.prepare();
				void import("./layer-view.ts").catch(() => undefined);
			});
		refresh();
		if (this.#isOutdated) this.#showLoaded();
		if (this.#focused !== "" && (focusOn(this.#focused) || isComplete)) this.#focused = "";
	}

	/** An earlier answer of the same text stays until there is a better one. */
	#showChosen({ hits }: Chosen, search: Omit<Results, "hits">): void {
		const { isComplete, problems } = catalogue;
		const { state } = search;
		const isSame = isSameSearch(this.#results.state, state);
		const isBetter = hits.length >= this.#results.hits.length || !isSame;
		this.#isBusy = !isComplete && problems.length === 0 && (hits.length === 0 || !isBetter);
		if (this.#isBusy) return;
		const isRead = document.activeElement?.closest(".results") != null;
		const isNew = !isRead && (!isSame || state.n === this.#results.state.n);
		this.#results = { ...search, hits, serial: isNew ? search.serial : this.#results.serial };
		this.#filters.list(hits.slice(0, state.n));
	}

	#home(state: State): Content {
		const { selection, isComplete } = catalogue;
		const isSearch = state.q.trim() !== "" || filterCount(state) > 0;
		if (isSearch || !isComplete || selection.size === 0 || !this.#chosen) return "";
		const { host, sender } = this.#chosen.facets;
		const senders = sender.length;
		const from = plural(host.length, "from-servers", layers(selection.size));
		const rows = selection.newest(maxNew).map((entry) => {
			const { date } = entry.changed ?? { date: "" };
			const link = stateLink({ ...state, layer: entry.smallkey }, titleOf(entry, lang));
			return html`<li>${link} <time datetime=${date}>${dayText(new Date(date))}</time></li>`;
		});
		return html`<div class="home">
			<p>${senders > 0 ? plural(senders, "from-publishers", from) : from}.</p>
			${rows.length > 0 ? html`<h2>${t("changed-last")}</h2><ul class="newest">${rows}</ul>` : ""}
		</div>`;
	}
}

function isSameSearch(first: State, other: State): boolean {
	return writeState({ ...first, n: 0 }, false) === writeState({ ...other, n: 0 }, false);
}

/** Keeps a focus that the user has moved. @returns false if the layer is not listed yet */
function focusOn(smallkey: string): boolean {
	if (!document.activeElement?.matches("body, h1, .more button")) return true;
	const link = document.querySelector<HTMLElement>(`.results [data-layer="${smallkey}"]`);
	link?.focus();
	return link !== null;
}
