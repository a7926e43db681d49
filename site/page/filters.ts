import { html, type TemplateResult } from "lit-html";
import type { Chosen } from "../search/select.ts";
import { filterCount, firstShown, noFilters, type State } from "./address.ts";
import { type Content, field, select } from "./dom.ts";
import { currentState, go, plural, stateText, t, typeText } from "./page.ts";

const maxOffered = 500;

const groups = [
	["type", "type", typeText],
	["health", "health", stateText],
	["sender", "publisher", String],
	["host", "service-host", String],
] as const;

const isWide = matchMedia("(min-width: 64rem)").matches;

export function filterFields(state: State, chosen: Chosen | null): TemplateResult {
	const count = filterCount(state);
	return html`<details class="filters" ?open=${isWide}>
		<summary>${count > 0 ? plural(count, "filters-on") : t("filters")}</summary>
		${chosen ? groups.map((group) => facet(group, state, chosen)) : ""}
		<button class="small" ?hidden=${count === 0} @click=${() => set(noFilters)}>${t("remove-filters")}</button>
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
