import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Entry } from "../data/entries.ts";
import type { Box } from "../map/drawable.ts";
import type { Overview } from "../map/overview.ts";
import type { Chosen, FacetValue } from "../search/select.ts";
import { boxOf, filterCount, firstShown, noFilters, type State } from "./address.ts";
import { breakable, type Content, part, select, warning, whenIdle } from "./dom.ts";
import { currentState, go, plural, stateText, t, typeText } from "./page.ts";

const maxOffered = 500;

/** In the order of the page. */
const groups = [
	["type", "type", typeText],
	["health", "health", stateText],
	["sender", "publisher", String],
	["host", "service-host", String],
	["theme", "theme", String],
] as const;

const maxButtons = 5;

/** Room for filters and map beside the list. */
const isWide = matchMedia("(min-width: 64rem)").matches;

export class Filters {
	#isOpen = isWide;
	#isMapOpen = isWide;
	readonly #place = part("overview");
	/** The map has not reported a view yet. */
	#isViewPending = false;
	#closing: AbortController | null = null;
	#map: Overview | null = null;
	#listed: readonly Entry[] = [];

	update({ view }: State): void {
		if (view !== "") {
			this.#isViewPending = false;
			this.#isMapOpen = true;
		}
		if (!this.#isMapOpen) this.close();
		else if (this.#closing === null) whenIdle(() => void this.#openMap());
		else this.#map?.show(boxOf(view));
	}

	list(layers: readonly Entry[]): void {
		this.#listed = layers;
		this.#map?.list(layers);
	}

	close(): void {
		this.#closing?.abort();
		this.#closing = null;
		this.#map = null;
		render("", this.#place);
	}

	async #openMap(): Promise<void> {
		if (this.#closing !== null || !this.#place.isConnected) return;
		this.#closing = new AbortController();
		const { signal } = this.#closing;
		const moved = (box: Box) => {
			const { view } = currentState();
			// Moving the map replaces the address, so that *Back* removes the whole filter, not one movement.
			if (view !== "" || this.#isViewPending) this.#set({ view: box.join() }, view !== "");
		};
		try {
			const { openOverview } = await import("../map/overview.ts");
			if (signal.aborted) return;
			this.#map = openOverview(this.#place, boxOf(currentState().view), moved, signal);
			this.#map.list(this.#listed);
		} catch {
			if (signal.aborted) return;
			this.#closing = null;
			render(warning(t("map-failed")), this.#place);
		}
	}

	#set(part: Partial<State>, replace = false): void {
		go({ ...currentState(), n: firstShown, ...part }, replace);
	}

	content(state: State, chosen: Chosen | null): TemplateResult {
		const count = filterCount(state);
		const toggle = (event: Event) => {
			this.#isOpen = isOpen(event);
		};
		const setTitle = (event: Event) => this.#set({ title: isChecked(event) ? "same" : "" });
		return html`<details class="filters" ?open=${this.#isOpen} @toggle=${toggle}>
			<summary>${count > 0 ? plural(count, "filters-on") : t("filters")}</summary>
			${this.#chips(state)}
			${chosen ? groups.map((group) => this.#group(group, state, chosen)) : ""}
			<label class="check" ?hidden=${!chosen}><input type="checkbox" .checked=${live(state.title !== "")}
				@change=${setTitle}><span>${t("no-french-title")} (${chosen?.facets.title[0]?.[1] ?? 0})</span></label>
		</details>`;
	}

	mapContent(state: State): TemplateResult {
		const isInView = state.view !== "" || this.#isViewPending;
		const toggle = (event: Event) => {
			this.#isMapOpen = isOpen(event);
			this.update(currentState());
		};
		const setView = (event: Event) => {
			this.#isViewPending = isChecked(event);
			if (!this.#isViewPending) return this.#set({ view: "" });
			// A later movement of the map changes the filter.
			const box = this.#map?.shown();
			if (box) this.#set({ view: box.join() });
		};
		return html`<details class="overviewpart" ?open=${this.#isMapOpen} @toggle=${toggle}>
			<summary>${t("map-of-list")}</summary>
			${this.#place}
			<label class="check"><input type="checkbox" aria-describedby="viewhint" .checked=${live(isInView)}
				@change=${setView}><span>${t("in-view")}</span></label>
			<p class="hint" id="viewhint">${t("in-view-hint")}</p>
		</details>`;
	}

	#group([name, code, textOf]: (typeof groups)[number], state: State, { facets }: Chosen): Content {
		const chosen = state[name];
		const values = facets[name];
		if (values.length === 0 && chosen === "") return "";
		const isThere = values.some(([value]) => value === chosen);
		const all = chosen === "" || isThere ? values : [[chosen, 0] as const, ...values];
		const button = ([value, count]: FacetValue) => html`<li><button type="button" class="value"
			aria-pressed=${value === chosen ? "true" : "false"}
			@click=${() => this.#set({ [name]: value === chosen ? "" : value })}><span>${breakable(textOf(value))}</span>
			<span class="number">${count}</span></button></li>`;
		const first = all.slice(0, maxButtons);
		const others = all.slice(maxButtons, maxOffered);
		const hidden = others.some(([value]) => value === chosen) ? chosen : "";
		const options = [
			["", t("other-values", all.length - first.length)] as const,
			...others.map(([value, count]) => [value, `${textOf(value)} (${count})`] as const),
		];
		const label = t(code);
		return html`<fieldset class="facet"><legend>${label}</legend><ul>${first.map(button)}</ul>
			${others.length > 0 ? html`<label class="said" for=${name}>${label}</label>${select(name, hidden, options, (value) => this.#set({ [name]: value }))}` : ""}
		</fieldset>`;
	}

	#chips(state: State): TemplateResult {
		const remove = (without: Partial<State>) => () => {
			this.#set(without);
			document.querySelector("summary")?.focus();
		};
		const texts = [
			...groups.map(([name, , textOf]) => [name, textOf(state[name])] as const),
			["title", t("no-french-title")] as const,
			["view", t("in-view")] as const,
		];
		const active = texts.filter(([name]) => state[name] !== "");
		const chips = active.map(
			([name, text]) => html`<li><button type="button" class="chip"
			aria-label=${t("remove-filter", text)} @click=${remove({ [name]: "" })}>${text}<span aria-hidden="true"> ×</span></button></li>`,
		);
		const all = html`<li><button type="button" class="chip all"
			@click=${remove(noFilters)}>${t("remove-filters")}</button></li>`;
		return html`<ul class="chips" ?hidden=${chips.length === 0}>${chips}${chips.length > 1 ? all : ""}</ul>`;
	}
}

function isOpen({ currentTarget }: Event): boolean {
	return (currentTarget as HTMLDetailsElement).open;
}

function isChecked({ currentTarget }: Event): boolean {
	return (currentTarget as HTMLInputElement).checked;
}
