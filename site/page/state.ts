import type { TemplateResult } from "lit-html";
import { decodeSegment, type Lang, parseSmallkey } from "../../registry/smallkey.ts";
import { filters, type Sort, sorts } from "../search/select.ts";
import { addressOf, lang, settings } from "./page.ts";

/** `moreShown` is added by *Show more*. */
export const firstShown = 10;
export const moreShown = 30;
const maxShown = 1_000;

export const maxText = 500;

const startState = {
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

/** The page's address has a parameter for each member that differs from the start page. */
export type State = Readonly<typeof startState>;

const layerPath = /\/(?:en|fr)\/(?:layer|embed)\/([^/]+?)(?:\.html)?$/;

/** Unknown parameters and invalid values are ignored. */
export function readState({ pathname, search }: Pick<URL, "pathname" | "search">): State {
	const parameters = new URLSearchParams(search);
	const textOf = (name: string) => (parameters.get(name) ?? "").slice(0, maxText);
	const texts = Object.fromEntries(["q", ...filters].map((name) => [name, textOf(name)]));
	const [, segment] = layerPath.exec(pathname) ?? [];
	const layer = segment === undefined ? textOf("layer") : (decodeSegment(segment) ?? "");
	return {
		...startState,
		...texts,
		page: textOf("page") === "draft" ? "draft" : "layers",
		sort: sorts.find((sort) => sort === textOf("sort")) ?? startState.sort,
		n: Math.min(Math.max(Number.parseInt(textOf("n"), 10) || 0, firstShown), maxShown),
		layer: parseSmallkey(layer) ?? "",
	};
}

/** Below the folder of its language; empty for the start page. */
export function writeState(state: State): string {
	const hasPath = settings.hasLayerPages && state.layer !== "";
	const names = (Object.keys(startState) as (keyof State)[]).filter((name) => name !== "layer" || !hasPath);
	const changed = names.filter((name) => state[name] !== startState[name]);
	const query = new URLSearchParams(changed.map((name) => [name, String(state[name])]));
	const path = hasPath ? `layer/${encodeURIComponent(state.layer)}` : "";
	return query.size === 0 ? path : `${path}?${query}`;
}

export function currentState(): State {
	return readState(location);
}

export function addressOfState(state: State, addressLang: Lang = lang): string {
	return addressOf(`${addressLang}/${writeState(state)}`).href;
}

/** After `replace`, *Back* skips the address before. */
export function navigate(state: State, mode: "push" | "replace" = "push"): void {
	const hash = state.page === "draft" && state.layer === "" ? location.hash : "";
	const address = addressOfState(state) + (mode === "replace" ? hash : "");
	if (mode === "replace") history.replaceState(null, "", address);
	else if (address !== location.href) history.pushState(null, "", address);
	dispatchEvent(new PopStateEvent("popstate"));
}

export interface View {
	readonly title: string;
	content(state: State): TemplateResult;
	update?(state: State): void;
}
