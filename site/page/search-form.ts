import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { debounce, textIn } from "./elements.ts";
import { siteName, t } from "./page.ts";
import { currentState, firstShown, maxText, navigate, type State } from "./state.ts";

/** Pause in typing before a search. */
const pauseMs = 120;

export class SearchForm {
	/** Null if the address has the typed text. */
	#typed: string | null = null;
	/** Whether more typing belongs to the same search, and is no further step for *Back*. */
	#isSameSearch = false;
	readonly #searchLater = debounce(pauseMs, () => this.#search());

	// The placeholder lets print styles hide an empty box (`:placeholder-shown`).
	content({ q }: State): TemplateResult {
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

	/** A waiting search is not started. */
	close(): void {
		this.#typed = null;
	}

	/** *Back* restores the state before the first typed letter. */
	#search(): void {
		if (this.#typed === null) return;
		const q = this.#typed;
		this.#typed = null;
		navigate({ ...currentState(), q, n: firstShown }, this.#isSameSearch);
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
