import type { Chosen, FacetValue } from "../search/select.ts";
import { filterCount, firstShown, type State, withoutFilters } from "./address.ts";
import { describe, field, fill, h, newId } from "./dom.ts";
import { type Page, stateText, typeText } from "./page.ts";
import { ViewFilter } from "./view-filter.ts";

/** Most values of one filter that are offered. */
const maxOffered = 500;

/** The filters: they work before any text is typed, and offer what there is. */
export class Filters {
	readonly #page: Page;
	readonly #change: (state: State, replace: boolean) => void;
	readonly #summary = h("summary");
	readonly #type = h("select");
	readonly #host = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
	readonly #hosts = h("datalist", { id: newId() });
	readonly #sender = h("select");
	readonly #health = h("select");
	readonly #oneTitle = h("input", { type: "checkbox" });
	readonly #oneTitleCount = h("span");
	readonly #inView: ViewFilter;
	readonly #chips = h("ul", { class: "chips" });
	readonly #details: HTMLDetailsElement;
	readonly element: HTMLElement;
	/** What is offered once the filters are open. */
	#chosen: Chosen | null = null;

	/** @param change is called with the state with other filters */
	constructor(page: Page, change: (state: State, replace: boolean) => void) {
		this.#page = page;
		this.#change = change;
		const { texts } = page;
		this.#host.setAttribute("list", this.#hosts.id);
		this.#inView = new ViewFilter(page, (view) => {
			// Moving the map changes a filter that is there: *Back* takes the whole of it away.
			const isMove = view !== null && page.state().view !== null;
			this.#set({ view }, isMove);
		});
		const hostHint = h("p", { class: "hint" }, texts.hostHint);
		describe(this.#host, hostHint);
		this.#details = h(
			"details",
			{ class: "filters", ontoggle: () => this.#open() },
			this.#summary,
			h(
				"div",
				{ class: "grid" },
				field(texts.type, this.#type),
				field(texts.host, this.#host, this.#hosts, hostHint),
				field(texts.sender, this.#sender),
				field(texts.health, this.#health),
				check(texts.oneTitle, this.#oneTitle, this.#oneTitleCount),
				this.#inView.label,
			),
			this.#inView.element,
		);
		this.element = h("div", {}, this.#details, this.#chips);
		this.#type.addEventListener("change", () => this.#set({ type: this.#type.value }));
		this.#host.addEventListener("change", () => this.#set({ host: this.#host.value.trim() }));
		this.#sender.addEventListener("change", () => this.#set({ sender: this.#sender.value }));
		this.#health.addEventListener("change", () => this.#set({ health: this.#health.value }));
		this.#oneTitle.addEventListener("change", () => this.#set({ oneTitle: this.#oneTitle.checked }));
	}

	update(state: State): void {
		const { texts } = this.#page;
		const count = filterCount(state);
		fill(this.#summary, count > 0 ? texts.filtersOn(count) : texts.filters);
		choose(this.#type, state.type, texts.any, typeText.bind(null, texts));
		choose(this.#sender, state.sender, texts.any, String);
		choose(this.#health, state.health, texts.any, stateText.bind(null, texts));
		if (document.activeElement !== this.#host) this.#host.value = state.host;
		this.#oneTitle.checked = state.oneTitle;
		this.#inView.update(state, this.#details.open);
		this.#showChips(state);
	}

	#set(part: Partial<State>, replace = false): void {
		this.#change({ ...this.#page.state(), shown: firstShown, ...part }, replace);
	}

	#showChips(state: State): void {
		const { texts } = this.#page;
		const remove = (without: Partial<State>) => () => {
			this.#set(without);
			// The button goes with its filter: the focus stays near.
			this.#summary.focus();
		};
		const chip = (name: string, without: Partial<State>) => {
			const attributes = { class: "chip", onclick: remove(without), "aria-label": texts.removeFilter(name) };
			return h("li", {}, h("button", attributes, name, h("span", { "aria-hidden": "true" }, " ×")));
		};
		const count = filterCount(state);
		const all = { class: "chip all", onclick: remove(withoutFilters(state)) };
		fill(
			this.#chips,
			state.type && chip(typeText(texts, state.type), { type: "" }),
			state.host && chip(state.host, { host: "" }),
			state.sender && chip(state.sender, { sender: "" }),
			state.health && chip(stateText(texts, state.health), { health: "" }),
			state.oneTitle && chip(texts.oneTitle, { oneTitle: false }),
			state.view && chip(texts.inView, { view: null }),
			count > 1 && h("li", {}, h("button", all, texts.removeFilters)),
		);
		this.#chips.hidden = count === 0;
	}

	#open(): void {
		this.#inView.update(this.#page.state(), this.#details.open);
		if (this.#chosen) this.offer(this.#chosen);
	}

	/** Offers the values that there are, with the number of layers that each would leave. */
	offer(chosen: Chosen): void {
		this.#chosen = chosen;
		if (!this.#details.open) return;
		const { texts } = this.#page;
		const { type, host, sender, health } = chosen.facets;
		offerIn(this.#type, type, typeText.bind(null, texts));
		offerIn(this.#sender, sender, String);
		offerIn(this.#health, health, stateText.bind(null, texts));
		fill(this.#oneTitleCount, ` (${chosen.oneTitle})`);
		const hosts = host.slice(0, maxOffered);
		const key = hosts.join();
		if (this.#hosts.dataset.key === key) return;
		this.#hosts.dataset.key = key;
		fill(
			this.#hosts,
			hosts.map(([value, count]) => h("option", { value, label: `${value} (${count})` })),
		);
	}
}

function check(label: string, control: HTMLElement, count: HTMLElement): HTMLElement {
	return h("label", { class: "check" }, control, h("span", {}, label, count));
}

/** Selects a value, and offers it where it is not offered yet. */
function choose(
	select: HTMLSelectElement,
	value: string,
	any: string,
	textOf: (value: string) => string,
): void {
	if (select.options.length === 0) select.append(h("option", { value: "" }, any));
	if (![...select.options].some((option) => option.value === value))
		select.append(h("option", { value }, textOf(value)));
	select.value = value;
}

function offerIn(
	select: HTMLSelectElement,
	values: readonly FacetValue[],
	textOf: (value: string) => string,
): void {
	const { value: chosen } = select;
	const [any] = select.options;
	const offered =
		values.some(([value]) => value === chosen) || chosen === "" ? values : [...values, [chosen, 0] as const];
	const options = offered
		.slice(0, maxOffered)
		.map(([value, count]) => h("option", { value }, `${textOf(value)} (${count})`));
	select.replaceChildren(...(any ? [any] : []), ...options);
	select.value = chosen;
}
