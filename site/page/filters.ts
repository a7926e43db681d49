import { html, render, type TemplateResult } from "lit-html";
import type { Box } from "../map/drawable.ts";
import type { Overview } from "../map/overview.ts";
import type { Chosen } from "../search/select.ts";
import { boxOf, filterCount, firstShown, noFilters, type State } from "./address.ts";
import { type Content, field, part, select, warning } from "./dom.ts";
import { currentState, go, plural, stateText, t, typeText } from "./page.ts";

const maxOffered = 500;

const groups = [
	["type", "type", typeText],
	["health", "health", stateText],
	["sender", "publisher", String],
	["host", "service-host", String],
] as const;

export function createFilters() {
	let isOpen = matchMedia("(min-width: 64rem)").matches;
	/** Open it filters, closed it does not. */
	let isMapOpen = false;
	let lastView = "";
	const place = part("overview");
	let closing: AbortController | null = null;
	let map: Overview | null = null;

	function update({ view }: State): void {
		if (view !== lastView) isMapOpen = view !== "";
		lastView = view;
		if (!isMapOpen) close();
		else if (closing === null) void openMap();
		else map?.show(boxOf(view));
	}

	function close(): void {
		closing?.abort();
		closing = null;
		map = null;
		render("", place);
	}

	async function openMap(): Promise<void> {
		closing = new AbortController();
		const { signal } = closing;
		// Moving the map replaces the address, so that *Back* removes the whole filter, not one movement.
		const moved = (box: Box) => set({ view: box.join() }, currentState().view !== "");
		try {
			const { openOverview } = await import("../map/overview.ts");
			if (!signal.aborted) map = openOverview(place, boxOf(currentState().view), moved, signal);
		} catch {
			if (!signal.aborted) render(warning(t("map-failed")), place);
		}
	}

	function content(state: State, chosen: Chosen | null): TemplateResult {
		const count = filterCount(state);
		const toggle = (event: Event) => {
			isOpen = isOpenAfter(event);
		};
		const toggleMap = (event: Event) => {
			if (isMapOpen === isOpenAfter(event)) return;
			isMapOpen = !isMapOpen;
			if (!isMapOpen) set({ view: "" });
			update(currentState());
		};
		return html`<details class="filters" ?open=${isOpen} @toggle=${toggle}>
			<summary>${count > 0 ? plural(count, "filters-on") : t("filters")}</summary>
			${chosen ? groups.map((group) => facet(group, state, chosen)) : ""}
			<details ?open=${isMapOpen} @toggle=${toggleMap}><summary>${t("in-view")}</summary>
				${place}<p class="hint">${t("in-view-hint")}</p></details>
			<button class="small" ?hidden=${count === 0} @click=${() => set(noFilters)}>${t("remove-filters")}</button>
		</details>`;
	}

	return { update, close, content };
}

function set(changes: Partial<State>, replace = false): void {
	go({ ...currentState(), n: firstShown, ...changes }, replace);
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

function isOpenAfter({ currentTarget }: Event): boolean {
	return (currentTarget as HTMLDetailsElement).open;
}
