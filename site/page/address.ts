import { decodeSegment, parseSmallkey } from "../../registry/smallkey.ts";
import type { Bounds } from "../data/entries.ts";
import type { Box } from "../map/drawable.ts";
import { type Sort, sorts } from "../search/select.ts";

/** At first, added by each *Show more*, and at most. */
export const firstShown = 10;
export const moreShown = 30;
const maxShown = 1_000;

/** In UTF-16 units. */
export const maxText = 500;

const start = {
	page: "layers" as "layers" | "draft",
	q: "",
	type: "",
	host: "",
	sender: "",
	health: "",
	view: "",
	sort: "best" as Sort,
	n: firstShown,
	layer: "",
};

/** The state of the page. Its address has a parameter for each member that differs from the start page. */
export type State = Readonly<typeof start>;

const layerPath = /\/(?:en|fr)\/(?:layer|embed)\/([^/]+?)(?:\.html)?$/;

/** Unknown parameters and invalid values are ignored. */
export function readState({ pathname, search }: Pick<URL, "pathname" | "search">): State {
	const parameters = new URLSearchParams(search);
	const [, inPath] = layerPath.exec(pathname) ?? [];
	const text = (name: string) => (parameters.get(name) ?? "").slice(0, maxText);
	const only = <T extends string>(values: readonly T[], name: string) =>
		values.find((value) => value === text(name));
	const texts = Object.fromEntries(
		["q", "type", "host", "sender", "health"].map((name) => [name, text(name)]),
	);
	return {
		...start,
		...texts,
		page: only(["draft"], "page") ?? start.page,
		view: boxOf(text("view"))?.join() ?? "",
		sort: only(sorts, "sort") ?? start.sort,
		n: Math.min(Math.max(Number.parseInt(text("n"), 10) || 0, firstShown), maxShown),
		layer: parseSmallkey(inPath === undefined ? text("layer") : (decodeSegment(inPath) ?? "")) ?? "",
	};
}

/** Accepts `xmin,ymin,xmax,ymax`; null for anything else. */
export function boxOf(text: string): Box | null {
	const numbers = text.split(",").map(Number);
	if (text === "" || numbers.length !== 4 || !numbers.every(Number.isFinite)) return null;
	const [xmin, ymin, xmax, ymax] = numbers as Box;
	return xmin < xmax && ymin < ymax ? [xmin, ymin, xmax, ymax] : null;
}

/** In degrees; the whole earth if a part of the rectangle is outside the projection. */
export async function boundsOf([xmin, ymin, xmax, ymax]: Box, wkid: number): Promise<Bounds> {
	const { boundsOfExtent, reproject } = await import("../service/projections.ts");
	const bounds = boundsOfExtent({ wkid, xmin, ymin, xmax, ymax }) ?? [-180, -90, 180, 90];
	const pole = reproject({ wkid: 4326, xmin: 0, ymin: 90, xmax: 0, ymax: 90 }, wkid);
	const hasPole = pole && pole.xmin > xmin && pole.xmax < xmax && pole.ymin > ymin && pole.ymax < ymax;
	// The edges of the rectangle do not reach the pole inside it, around which are all longitudes.
	return hasPole ? [-180, bounds[1], 180, 90] : bounds;
}

/** Below the folder of its language; empty for the start page. */
export function writeState(state: State, hasLayerPages: boolean): string {
	const path = hasLayerPages && state.layer !== "" ? `layer/${encodeURIComponent(state.layer)}` : "";
	const names = (Object.keys(start) as (keyof State)[]).filter((name) => name !== "layer" || path === "");
	const changed = names.filter((name) => state[name] !== start[name]);
	const query = new URLSearchParams(changed.map((name) => [name, String(state[name])]));
	return query.size === 0 ? path : `${path}?${query}`;
}

const filters = ["type", "host", "sender", "health", "view"] as const;

export function filterCount(state: State): number {
	return filters.filter((name) => state[name] !== "").length;
}

export const noFilters: Partial<State> = Object.fromEntries(filters.map((name) => [name, ""]));
