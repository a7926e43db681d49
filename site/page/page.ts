import { html, nothing, render, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { live } from "lit-html/directives/live.js";
import { decodeSegment, type Lang, parseLang, parseSmallkey } from "../../registry/smallkey.ts";
import { chunksFolder } from "../data/entries.ts";
import { type Sort, sorts } from "../search/select.ts";
import type { PageData } from "../static/html.ts";
import { translator } from "../text/translate.ts";

// Read before the page waits for anything: *Back* could change the address meanwhile, and with it all
// relative addresses.

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

const loadedFrom = location.href.split(/[?#]/)[0];

for (const link of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>("a[href], link[rel=icon]"))
	link.setAttribute("href", link.href);

const loaded = await (lang === "fr" ? import("../text/french.ts") : import("../text/english.ts"));
export const pageTexts = loaded.texts;
export const texts = { ...translator(lang, pageTexts), causes: loaded.causes };
export const { t, plural, dayText, stateText, typeText, copyText } = texts;

export const layers = (number: number) => plural(number, "layer-count");

const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as PageData;

export const { site: settings, entry: givenEntry } = data;

export const siteName = settings.name?.[lang] ?? t("map-layers");

export const root = new URL(data.root, loadedFrom);

function addressOf(path: string): URL {
	return new URL(path, root);
}

export const land = addressOf(data.land).href;

export const workerAddress = addressOf(data.worker);

export const isEmbed = document.querySelector("main.embed") !== null;

export function now(): Date {
	return new Date();
}

export function currentState(): State {
	return readState(location);
}

export function addressOfState(state: State, addressLang: Lang = lang): string {
	return addressOf(`${addressLang}/${writeState(state, settings.hasLayerPages)}`).href;
}

/** @param replace whether *Back* skips the current address */
export function go(state: State, replace = false): void {
	const hash = state.page === "draft" && state.layer === "" ? location.hash : "";
	const address = addressOfState(state) + (replace ? hash : "");
	if (address !== location.href) history[replace ? "replaceState" : "pushState"](null, "", address);
	dispatchEvent(new PopStateEvent("popstate"));
}

export function refresh(): void {
	dispatchEvent(new Event("refresh"));
}

/** Texts are never parsed as HTML. */
export type Content = TemplateResult | Node | string | undefined | readonly Content[];

export interface View {
	readonly title: string;
	content(state: State): TemplateResult;
	update?(state: State): void;
}

/**
 * Reads a file below the site's root; null if it does not exist.
 * @param cache with `no-cache`, the browser always asks the server, which may answer 304. With `default`, a
 * removed layer would stay for a minute (`max-age`) and once more within the next (`stale-while-revalidate`);
 * it is for files with a hash in their name.
 * @throws {TypeError} if the server does not answer in time, or answers with an error
 */
export async function readFile(
	path: string,
	cache: RequestCache,
	signal: AbortSignal,
): Promise<string | null> {
	const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
	// The many chunks must not delay later requests, such as those of the page of a layer.
	const priority = path.startsWith(chunksFolder) ? "low" : "auto";
	const response = await fetch(addressOf(path), { cache, signal: ending, priority });
	if (response.status === 404) return null;
	if (!response.ok) throw new TypeError(`${path}: ${response.status}`);
	return response.text();
}

const timeoutMs = 30_000;

export function stateLink(state: State, content: Content): TemplateResult {
	return html`<a href=${addressOfState(state)} data-layer=${state.layer}>${content}</a>`;
}

const maxProblems = 3;

export function problemBox(problems: readonly string[], retry: () => void): Content {
	if (problems.length === 0) return "";
	const texts = [...new Set(problems)].slice(0, maxProblems);
	return html`<div class="warning" role="alert">
		${texts.map((text) => html`<p>${text}</p>`)}
		<button @click=${retry}>${t("try-again")}</button>
	</div>`;
}

/** A script updates it, outside the page's rendering. */
export function part(className: string, content: Content = ""): HTMLElement {
	const element = document.createElement("div");
	element.className = className;
	render(content, element);
	return element;
}

export function field(id: string, label: string, control: Content, more: Content = ""): TemplateResult {
	return html`<div class="field"><label for=${id}>${label}</label>${control}${more}</div>`;
}

export function select(
	id: string,
	chosen: string,
	options: readonly (readonly [value: string, text: string])[],
	choose: (value: string) => void,
): TemplateResult {
	const change = (event: Event) => choose(textIn(event));
	return html`<select id=${id} @change=${change}>${options.map(([value, text]) => {
		return html`<option value=${value} .selected=${live(value === chosen)}>${text}</option>`;
	})}</select>`;
}

export function textIn({ currentTarget }: Event): string {
	return (currentTarget as HTMLInputElement).value;
}

/** Screen readers announce it at once. */
export function warning(text: string): TemplateResult {
	return html`<p class="warning" role="alert">${text}</p>`;
}

/** Screen readers announce the answer. @param name added to the label for them; empty for none */
export function copyButton(label: string, text: () => string, name = ""): TemplateResult {
	const press = async ({ currentTarget }: Event) => {
		const place = (currentTarget as HTMLElement).nextElementSibling as HTMLElement;
		place.textContent = await navigator.clipboard.writeText(text()).then(
			() => t("copied"),
			() => t("copy-failed"),
		);
	};
	return html`<span class="copy">
		<button class="small" aria-label=${name ? `${label}${t("colon")} ${name}` : nothing} @click=${press}>${label}</button>
		<span role="status" class="said"></span>
	</span>`;
}

export function copyBox(name: string, text: string): TemplateResult {
	const box = html`<div class="copybox">
		<div class="copyhead"><span>${name}</span>${copyButton(t("copy"), () => text, name)}</div>
		<pre tabindex="0" role="region" aria-label=${name}><code>${text}</code></pre>
	</div>`;
	// A changed text gets a new box, so that "Copied" is not shown for it.
	return html`${keyed(text, box)}`;
}

export function debounce(waitMs: number, call: () => void): () => void {
	let timer: ReturnType<typeof setTimeout> | undefined;
	return () => {
		clearTimeout(timer);
		timer = setTimeout(call, waitMs);
	};
}

/** Null for anything but http and https, such as `javascript:`. */
export function webAddress(text: string): URL | null {
	return /^\s*https?:/i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

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
