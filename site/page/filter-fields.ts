import { html } from "lit-html";
import { type Filter, filters, type SelectionResult } from "../search/select.ts";
import { type Content, field, select } from "./elements.ts";
import { stateText, t, typeText } from "./page.ts";
import { currentState, firstShown, navigate, type State } from "./state.ts";

const maxOffered = 500;

const isWide = matchMedia("(min-width: 64rem)").matches;

/** @param result null while layers are loading: the counts would change */
export function renderFilters(state: State, result: SelectionResult | null) {
	const count = filters.filter((name) => state[name] !== "").length;
	const clear = () => setFilters(Object.fromEntries(filters.map((name) => [name, ""])));
	return html`<details class="filters" ?open=${isWide}>
		<summary>${t("filters")}${count > 0 ? ` (${count})` : ""}</summary>
		${result ? filters.map((name) => renderFilter(name, state[name], result)) : ""}
		<button class="small" ?hidden=${count === 0} @click=${clear}>${t("remove-filters")}</button>
	</details>`;
}

function setFilters(changes: Partial<State>) {
	navigate({ ...currentState(), n: firstShown, ...changes });
}

const labels = { type: "type", host: "service-host", sender: "publisher", health: "health" } as const;
const textOf = { type: typeText, host: String, sender: String, health: stateText };

function renderFilter(name: Filter, chosen: string, { facets }: SelectionResult): Content {
	const values = facets[name].slice(0, maxOffered);
	if (chosen !== "" && !values.some(([value]) => value === chosen)) values.unshift([chosen, 0]);
	if (values.length === 0) return "";
	const options = values.map(([value, count]) => [value, `${textOf[name](value)} (${count})`] as const);
	const choose = (value: string) => setFilters({ [name]: value });
	return field(name, t(labels[name]), select(name, chosen, [["", t("any")], ...options], choose));
}
