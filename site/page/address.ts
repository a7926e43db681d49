import { decodeSegment, parseSmallkey } from "../../registry/smallkey.ts";
import { type Sort, sorts } from "../search/select.ts";

/** At first, added by each *Show more*, and at most. */
export const firstShown = 10;
export const moreShown = 30;
const maxShown = 1_000;

/** In UTF-16 units. */
export const maxText = 500;

export const filters = ["type", "host", "sender", "health"] as const;

const start = {
	page: "layers" as "layers" | "draft",
	q: "",
	type: "",
	host: "",
	sender: "",
	health: "",
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
	const texts = Object.fromEntries(["q", ...filters].map((name) => [name, text(name)]));
	return {
		...start,
		...texts,
		page: only(["draft"], "page") ?? start.page,
		sort: only(sorts, "sort") ?? start.sort,
		n: Math.min(Math.max(Number.parseInt(text("n"), 10) || 0, firstShown), maxShown),
		layer: parseSmallkey(inPath === undefined ? text("layer") : (decodeSegment(inPath) ?? "")) ?? "",
	};
}

/** Below the folder of its language; empty for the start page. */
export function writeState(state: State, hasLayerPages: boolean): string {
	const path = hasLayerPages && state.layer !== "" ? `layer/${encodeURIComponent(state.layer)}` : "";
	const names = (Object.keys(start) as (keyof State)[]).filter((name) => name !== "layer" || path === "");
	const changed = names.filter((name) => state[name] !== start[name]);
	const query = new URLSearchParams(changed.map((name) => [name, String(state[name])]));
	return query.size === 0 ? path : `${path}?${query}`;
}
