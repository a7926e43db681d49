import { type FacetValue, facetValues } from "../catalogue/facet-values.ts";
import { filterCount, firstShown, type State, withoutFilters } from "./address.ts";
import { fill, h, newId } from "./dom.ts";
import { type Page, stateText, typeText } from "./page.ts";
import { ViewFilter } from "./view-filter.ts";

/** Most values of one filter that are offered. */
const mostOffered = 500;

/** The filters: they work before any text is typed, and offer what there is. */
export class Filters {
	readonly #page: Page;
	readonly #change: (state: State) => void;
	readonly #summary = h("summary");
	readonly #type = h("select");
	readonly #host = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
	readonly #hosts = h("datalist", { id: newId() });
	readonly #sender = h("select");
	readonly #health = h("select");
	readonly #oneTitle = h("input", { type: "checkbox" });
	readonly #inView: ViewFilter;
	readonly #chips = h("ul", { class: "chips" });
	readonly #details: HTMLDetailsElement;
	readonly element: HTMLElement;
	#isOffered = false;

	/** @param change told of the state with other filters */
	constructor(page: Page, change: (state: State) => void) {
		this.#page = page;
		this.#change = change;
		const { texts } = page;
		this.#host.setAttribute("list", this.#hosts.id);
		this.#inView = new ViewFilter(page, (view) => this.#set({ view }));
		const hostHint = h("p", { class: "hint", id: newId() }, texts.hostHint);
		this.#host.setAttribute("aria-describedby", hostHint.id);
		this.#details = h(
			"details",
			{ class: "filters", ontoggle: () => void this.#offer() },
			this.#summary,
			h(
				"div",
				{ class: "grid" },
				field(texts.type, this.#type),
				field(texts.host, this.#host, this.#hosts, hostHint),
				field(texts.sender, this.#sender),
				field(texts.health, this.#health),
				check(texts.oneTitle, this.#oneTitle),
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

	#set(part: Partial<State>): void {
		this.#change({ ...this.#page.state(), shown: firstShown, ...part });
	}

	#showChips(state: State): void {
		const { texts } = this.#page;
		const chip = (name: string, without: Partial<State>) =>
			h(
				"li",
				{},
				h(
					"button",
					{
						type: "button",
						class: "chip",
						// The button goes with its filter: the focus stays near.
						onclick: () => {
							this.#set(without);
							this.#summary.focus();
						},
						"aria-label": texts.removeFilter(name),
					},
					name,
					h("span", { "aria-hidden": "true" }, " ×"),
				),
			);
		const count = filterCount(state);
		fill(
			this.#chips,
			state.type && chip(typeText(texts, state.type), { type: "" }),
			state.host && chip(state.host, { host: "" }),
			state.sender && chip(state.sender, { sender: "" }),
			state.health && chip(stateText(texts, state.health), { health: "" }),
			state.oneTitle && chip(texts.oneTitle, { oneTitle: false }),
			state.view && chip(texts.inView, { view: null }),
			count > 1 &&
				h(
					"li",
					{},
					h(
						"button",
						{ type: "button", class: "chip all", onclick: () => this.#removeAll(state) },
						texts.removeFilters,
					),
				),
		);
		this.#chips.hidden = count === 0;
	}

	#removeAll(state: State): void {
		this.#set(withoutFilters(state));
		this.#summary.focus();
	}

	/** Reads which values there are, once the filters are looked at. */
	async #offer(): Promise<void> {
		this.#inView.update(this.#page.state(), this.#details.open);
		if (this.#isOffered || !this.#details.open) return;
		this.#isOffered = true;
		const { pieces, texts } = this.#page;
		const values = await facetValues(pieces).catch(() => null);
		if (!values) this.#isOffered = false;
		const mostFirst = (some: FacetValue[] = []) => some.sort((a, b) => b[1] - a[1]).slice(0, mostOffered);
		offer(this.#type, mostFirst(values?.type), typeText.bind(null, texts));
		offer(this.#sender, mostFirst(values?.sender), String);
		offer(this.#health, mostFirst(values?.health), stateText.bind(null, texts));
		fill(
			this.#hosts,
			mostFirst(values?.host).map(([host]) => h("option", { value: host })),
		);
		const oneTitle = values?.title[0]?.[1] ?? 0;
		this.#oneTitle.parentElement?.setAttribute("data-count", String(oneTitle));
	}
}

function field(label: string, control: HTMLElement, ...more: HTMLElement[]): HTMLElement {
	control.id ||= newId();
	return h("div", { class: "field" }, h("label", { for: control.id }, label), control, more);
}

function check(label: string, control: HTMLElement): HTMLElement {
	return h("label", { class: "check" }, control, h("span", {}, label));
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

function offer(
	select: HTMLSelectElement,
	values: [string, number][],
	textOf: (value: string) => string,
): void {
	const { value: chosen } = select;
	const [any] = select.options;
	const options = values.map(([value, count]) => h("option", { value }, `${textOf(value)} (${count})`));
	if (chosen !== "" && !values.some(([value]) => value === chosen))
		options.push(h("option", { value: chosen }, textOf(chosen)));
	select.replaceChildren(...(any ? [any] : []), ...options);
	select.value = chosen;
}
