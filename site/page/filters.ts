import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Chosen, FacetName } from "../search/select.ts";
import { filterCount, firstShown, type State, withoutFilters } from "./address.ts";
import { field, select, textIn } from "./dom.ts";
import { currentState, go, refresh, stateText, texts, typeText } from "./page.ts";
import { ViewFilter } from "./view-filter.ts";

const maxOffered = 500;

/** The filters: they work before any text is typed, and offer what there is. */
export class Filters {
	readonly #inView: ViewFilter;
	#isOpen = false;

	constructor() {
		this.#inView = new ViewFilter((view) => {
			// Moving the map changes a filter that is there: *Back* takes the whole of it away.
			const isMove = view !== null && currentState().view !== null;
			this.#set({ view }, isMove);
		});
	}

	update(state: State): void {
		this.#inView.update(state, this.#isOpen);
	}

	#set(part: Partial<State>, replace = false): void {
		go({ ...currentState(), shown: firstShown, ...part }, replace);
	}

	/** @param chosen what could be chosen, with the number of layers that each would leave; it is offered once the filters are open */
	content(state: State, chosen: Chosen | null): TemplateResult {
		const count = filterCount(state);
		const toggle = ({ currentTarget }: Event) => {
			this.#isOpen = (currentTarget as HTMLDetailsElement).open;
			this.update(currentState());
			refresh();
		};
		const offered = this.#isOpen ? chosen : null;
		const hosts = offered?.facets.host.slice(0, maxOffered) ?? [];
		const host = html`<input type="text" id="host" list="hosts" autocomplete="off" spellcheck="false"
			aria-describedby="hosthint" .value=${state.host} @change=${(event: Event) => this.#set({ host: textIn(event).trim() })}>`;
		const hostList = html`<datalist id="hosts">${hosts.map(
			([value, number]) => html`<option value=${value} label="${value} (${number})"></option>`,
		)}</datalist><p class="hint" id="hosthint">${texts.hostHint}</p>`;
		return html`<div>
			<details class="filters" @toggle=${toggle}>
				<summary>${count > 0 ? texts.filtersOn(count) : texts.filters}</summary>
				<div class="grid">
					${this.#select("type", state, offered, (value) => typeText(value))}
					${field("host", texts.host, host, hostList)}
					${this.#select("sender", state, offered, String)}
					${this.#select("health", state, offered, (value) => stateText(value))}
					<label class="check"><input type="checkbox" .checked=${live(state.oneTitle)}
						@change=${() => this.#set({ oneTitle: !state.oneTitle })}><span>${texts.oneTitle}${offered && ` (${offered.oneTitle})`}</span></label>
					${this.#inView.label(state)}
				</div>
				${this.#inView.content(state)}
			</details>
			${this.#chips(state)}
		</div>`;
	}

	/** The values of a filter; the chosen one is always among them. */
	#select(
		name: Exclude<FacetName, "host">,
		state: State,
		offered: Chosen | null,
		textOf: (value: string) => string,
	): TemplateResult {
		const chosen = state[name];
		const values = offered?.facets[name] ?? [];
		const isThere = chosen === "" || values.some(([value]) => value === chosen);
		const options = [...values, ...(isThere ? [] : [[chosen, 0] as const])]
			.slice(0, maxOffered)
			.map(([value, count]) => [value, offered ? `${textOf(value)} (${count})` : textOf(value)] as const);
		const choose = (value: string) => this.#set({ [name]: value });
		return field(name, texts[name], select(name, chosen, [["", texts.any], ...options], choose));
	}

	/** What is filtered by, each with a button that takes it away. */
	#chips(state: State): TemplateResult {
		const remove = (without: Partial<State>) => () => {
			this.#set(without);
			// The button goes with its filter: the focus stays near.
			document.querySelector("summary")?.focus();
		};
		const filters: [isOn: boolean, name: string, without: Partial<State>][] = [
			[state.type !== "", typeText(state.type), { type: "" }],
			[state.host !== "", state.host, { host: "" }],
			[state.sender !== "", state.sender, { sender: "" }],
			[state.health !== "", stateText(state.health), { health: "" }],
			[state.oneTitle, texts.oneTitle, { oneTitle: false }],
			[state.view !== null, texts.inView, { view: null }],
		];
		const chips = filters
			.filter(([isOn]) => isOn)
			.map(
				([, name, without]) =>
					html`<li><button type="button" class="chip" aria-label=${texts.removeFilter(name)}
						@click=${remove(without)}>${name}<span aria-hidden="true"> ×</span></button></li>`,
			);
		const all = html`<li><button type="button" class="chip all"
			@click=${remove(withoutFilters(state))}>${texts.removeFilters}</button></li>`;
		return html`<ul class="chips" ?hidden=${chips.length === 0}>${chips}${chips.length > 1 ? all : ""}</ul>`;
	}
}
