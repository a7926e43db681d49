import { html, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Box } from "../map/drawable.ts";
import type { Overview } from "../map/overview.ts";
import type { Chosen, FacetValue } from "../search/select.ts";
import { boxOf, filterCount, firstShown, noFilters, type State } from "./address.ts";
import { breakable, type Content, part, select, warning, whenIdle } from "./dom.ts";
import { currentState, go, plural, stateText, t, typeText } from "./page.ts";

const maxOffered = 500;

const groups = [
	["type", "type", typeText],
	["health", "health", stateText],
	["sender", "publisher", String],
	["host", "service-host", String],
	["theme", "theme", String],
] as const;

const maxButtons = 5;

const isWide = matchMedia("(min-width: 64rem)").matches;

export function createFilters() {
	let isOpen = isWide;
	let isMapOpen = isWide;
	const place = part("overview");
	/** The map has not reported a view yet. */
	let isViewPending = false;
	let closing: AbortController | null = null;
	let map: Overview | null = null;

	function update({ view }: State): void {
		if (view !== "") {
			isViewPending = false;
			isMapOpen = true;
		}
		if (!isMapOpen) close();
		else if (closing === null) whenIdle(() => void openMap());
		else map?.show(boxOf(view));
	}

	function close(): void {
		closing?.abort();
		closing = null;
		map = null;
		render("", place);
	}

	async function openMap(): Promise<void> {
		if (closing !== null || !place.isConnected) return;
		closing = new AbortController();
		const { signal } = closing;
		const moved = (box: Box) => {
			const { view } = currentState();
			// Moving the map replaces the address, so that *Back* removes the whole filter, not one movement.
			if (view !== "" || isViewPending) set({ view: box.join() }, view !== "");
		};
		try {
			const { openOverview } = await import("../map/overview.ts");
			if (signal.aborted) return;
			map = openOverview(place, boxOf(currentState().view), moved, signal);
		} catch {
			if (signal.aborted) return;
			closing = null;
			render(warning(t("map-failed")), place);
		}
	}

	function content(state: State, chosen: Chosen | null): TemplateResult {
		const count = filterCount(state);
		const toggle = (event: Event) => {
			isOpen = (event.currentTarget as HTMLDetailsElement).open;
		};
		const setTitle = (event: Event) => set({ title: isChecked(event) ? "same" : "" });
		return html`<details class="filters" ?open=${isOpen} @toggle=${toggle}>
			<summary>${count > 0 ? plural(count, "filters-on") : t("filters")}</summary>
			${chips(state)}
			${chosen ? groups.map((group) => facet(group, state, chosen)) : ""}
			<label class="check" ?hidden=${!chosen}><input type="checkbox" .checked=${live(state.title !== "")}
				@change=${setTitle}><span>${t("no-french-title")} (${chosen?.facets.title[0]?.[1] ?? 0})</span></label>
		</details>`;
	}

	function mapContent(state: State): TemplateResult {
		const toggle = (event: Event) => {
			isMapOpen = (event.currentTarget as HTMLDetailsElement).open;
			update(currentState());
		};
		const setView = (event: Event) => {
			isViewPending = isChecked(event);
			if (!isViewPending) return set({ view: "" });
			// A later movement of the map changes the filter.
			if (map) set({ view: map.shown().join() });
		};
		return html`<details class="overviewpart" ?open=${isMapOpen} @toggle=${toggle}>
			<summary>${t("map-of-list")}</summary>
			${place}
			<label class="check"><input type="checkbox" aria-describedby="viewhint" .checked=${live(state.view !== "" || isViewPending)}
				@change=${setView}><span>${t("in-view")}</span></label>
			<p class="hint" id="viewhint">${t("in-view-hint")}</p>
		</details>`;
	}

	return { update, close, content, mapContent };
}

function set(changes: Partial<State>, replace = false): void {
	go({ ...currentState(), n: firstShown, ...changes }, replace);
}

function facet([name, code, textOf]: (typeof groups)[number], state: State, { facets }: Chosen): Content {
	const chosen = state[name];
	const values = facets[name];
	if (values.length === 0 && chosen === "") return "";
	const isListed = chosen === "" || values.some(([value]) => value === chosen);
	const all = isListed ? values : [[chosen, 0] as const, ...values];
	const button = ([value, count]: FacetValue) => html`<li><button type="button" class="value"
		aria-pressed=${value === chosen ? "true" : "false"}
		@click=${() => set({ [name]: value === chosen ? "" : value })}><span>${breakable(textOf(value))}</span>
		<span class="number">${count}</span></button></li>`;
	const first = all.slice(0, maxButtons);
	const others = all.slice(maxButtons, maxOffered);
	const selected = others.some(([value]) => value === chosen) ? chosen : "";
	const options = [
		["", t("other-values", all.length - first.length)] as const,
		...others.map(([value, count]) => [value, `${textOf(value)} (${count})`] as const),
	];
	const label = t(code);
	return html`<fieldset class="facet"><legend>${label}</legend><ul>${first.map(button)}</ul>
		${others.length > 0 ? html`<label class="said" for=${name}>${label}</label>${select(name, selected, options, (value) => set({ [name]: value }))}` : ""}
	</fieldset>`;
}

function chips(state: State): TemplateResult {
	const texts = [
		...groups.map(([name, , textOf]) => [name, textOf(state[name])] as const),
		["title", t("no-french-title")] as const,
		["view", t("in-view")] as const,
	];
	const active = texts.filter(([name]) => state[name] !== "");
	const chip = (more: string, label: string, content: Content, without: Partial<State>) => {
		const remove = () => {
			set(without);
			document.querySelector("summary")?.focus();
		};
		return html`<li><button type="button" class="chip${more}" aria-label=${label} @click=${remove}>${content}</button></li>`;
	};
	const all = t("remove-filters");
	return html`<ul class="chips" ?hidden=${active.length === 0}>
		${active.map(([name, text]) => chip("", t("remove-filter", text), html`${text}<span aria-hidden="true"> ×</span>`, { [name]: "" }))}
		${active.length > 1 ? chip(" all", all, all, noFilters) : ""}
	</ul>`;
}

function isChecked({ currentTarget }: Event): boolean {
	return (currentTarget as HTMLInputElement).checked;
}
