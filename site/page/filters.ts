import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Chosen, FacetName } from "../search/select.ts";
import { filterCount, firstShown, type State, withoutFilters } from "./address.ts";
import { field, select, textIn } from "./dom.ts";
import { currentState, go, refresh } from "./page.ts";
import { plural, stateText, t, typeText } from "./texts.ts";
import { ViewFilter } from "./view-filter.ts";

const maxOffered = 500;

const facetTexts = { type: "Type", sender: "Sender", health: "Health" } as const;

/** The filters. They work without a text, and offer the values that layers have. */
export class Filters {
	readonly #inView: ViewFilter;
	#isOpen = false;

	constructor() {
		this.#inView = new ViewFilter((view) => {
			// Moving the map replaces the address, so that *Back* removes the whole filter, not one movement.
			const isMove = view !== null && currentState().view !== null;
			this.#set({ view }, isMove);
		});
	}

	update(state: State): void {
		this.#inView.update(state, this.#isOpen);
	}

	/** Closes the map. */
	close(): void {
		this.#inView.close();
	}

	#set(part: Partial<State>, replace = false): void {
		go({ ...currentState(), shown: firstShown, ...part }, replace);
	}

	/** @param chosen the values of the filters with their numbers of layers; shown only while the filters are open */
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
		)}</datalist><p class="hint" id="hosthint">${t("Begin to type the name of a server")}</p>`;
		return html`<div>
			<details class="filters" @toggle=${toggle}>
				<summary>${count > 0 ? plural(count, "Filters (1 on)", "Filters ({0} on)") : t("Filters")}</summary>
				<div class="grid">
					${this.#select("type", state, offered, (value) => typeText(value))}
					${field("host", t("Service host"), host, hostList)}
					${this.#select("sender", state, offered, String)}
					${this.#select("health", state, offered, (value) => stateText(value))}
					<label class="check"><input type="checkbox" .checked=${live(state.oneTitle)}
						@change=${() => this.#set({ oneTitle: !state.oneTitle })}><span>${t("No French title of its own")}${offered && ` (${offered.oneTitle})`}</span></label>
					${this.#inView.label(state)}
				</div>
				${this.#inView.content(state)}
			</details>
			${this.#chips(state)}
		</div>`;
	}

	/** The drop-down list of a filter. The chosen value is always in it. */
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
		return field(name, t(facetTexts[name]), select(name, chosen, [["", t("Any")], ...options], choose));
	}

	/** The active filters, each as a button that removes it. */
	#chips(state: State): TemplateResult {
		const remove = (without: Partial<State>) => () => {
			this.#set(without);
			// The button disappears with its filter, so the focus moves to the summary.
			document.querySelector("summary")?.focus();
		};
		const filters: [isOn: boolean, name: string, without: Partial<State>][] = [
			[state.type !== "", typeText(state.type), { type: "" }],
			[state.host !== "", state.host, { host: "" }],
			[state.sender !== "", state.sender, { sender: "" }],
			[state.health !== "", stateText(state.health), { health: "" }],
			[state.oneTitle, t("No French title of its own"), { oneTitle: false }],
			[state.view !== null, t("In the map’s view"), { view: null }],
		];
		const chips = filters
			.filter(([isOn]) => isOn)
			.map(
				([, name, without]) =>
					html`<li><button type="button" class="chip" aria-label=${t("Remove the filter {0}", name)}
						@click=${remove(without)}>${name}<span aria-hidden="true"> ×</span></button></li>`,
			);
		const all = html`<li><button type="button" class="chip all"
			@click=${remove(withoutFilters(state))}>${t("Remove all filters")}</button></li>`;
		return html`<ul class="chips" ?hidden=${chips.length === 0}>${chips}${chips.length > 1 ? all : ""}</ul>`;
	}
}
