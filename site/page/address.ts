import { parseSmallkey } from "../../registry/smallkey.ts";
import type { Box } from "../map/drawable.ts";
import { type Sort, sorts } from "../search/select.ts";

/** The state of the page, as its address has it. */
export interface State {
	page: "layers" | "health" | "draft";
	text: string;
	type: string;
	host: string;
	sender: string;
	health: string;
	oneTitle: boolean;
	/** The map view that filters layers; null for none. */
	view: Box | null;
	sort: Sort;
	/** Whether only the layer's map is shown, for embedding in another page. */
	isEmbedded: boolean;
	/** Number of results that are shown. */
	shown: number;
	/** The open layer; null for none. */
	layer: string | null;
}

/** Numbers of results: at first, added by each *Show more*, and at most. */
export const firstShown = 10;
export const moreShown = 30;
const maxShown = 1_000;

/** Longest value of a parameter, in UTF-16 units. */
export const longestText = 500;

/** Parses a query string. Unknown parameters and invalid values are ignored. */
export function readState(search: string): State {
	const parameters = new URLSearchParams(search);
	const text = (name: string) => (parameters.get(name) ?? "").slice(0, longestText);
	const page = text("page");
	const shown = Number.parseInt(text("n"), 10);
	return {
		page: page === "health" || page === "draft" ? page : "layers",
		text: text("q"),
		type: text("type"),
		host: text("host"),
		sender: text("sender"),
		health: text("health"),
		oneTitle: text("title") === "same",
		view: readBox(text("view")),
		sort: sorts.find((one) => one === text("sort")) ?? "best",
		isEmbedded: text("embed") === "map",
		shown: Number.isNaN(shown) ? firstShown : Math.min(Math.max(shown, firstShown), maxShown),
		layer: parseSmallkey(text("layer")),
	};
}

function readBox(text: string): Box | null {
	const numbers = text.split(",").map(Number);
	if (text === "" || numbers.length !== 4 || !numbers.every(Number.isFinite)) return null;
	const [xmin, ymin, xmax, ymax] = numbers as Box;
	return xmin < xmax && ymin < ymax ? [xmin, ymin, xmax, ymax] : null;
}

/** The query string of a state, with its question mark; empty for the start page. */
export function writeState(state: State): string {
	const { text, type, host, sender, health, layer, view } = state;
	const parameters = {
		page: state.page === "layers" ? "" : state.page,
		q: text,
		...{ type, host, sender, health },
		title: state.oneTitle ? "same" : "",
		view: view ? view.map(Math.round).join(",") : "",
		sort: state.sort === "best" ? "" : state.sort,
		n: state.shown > firstShown ? String(state.shown) : "",
		layer: layer ?? "",
		embed: state.isEmbedded ? "map" : "",
	};
	const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
	return query.size === 0 ? "" : `?${query}`;
}

/** The number of filters that are on. */
export function filterCount({ type, host, sender, health, oneTitle, view }: State): number {
	return [type, host, sender, health, oneTitle, view].filter(Boolean).length;
}

/** The same state without filters. */
export function withoutFilters(state: State): State {
	return { ...state, type: "", host: "", sender: "", health: "", oneTitle: false, view: null };
}
