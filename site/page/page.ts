import { html, type TemplateResult } from "lit-html";
import { type Lang, parseLang } from "../../registry/smallkey.ts";
import { chunksFolder } from "../data/entries.ts";
import type { PageData } from "../static/html.ts";
import { translator } from "../text/translate.ts";
import { readState, type State, writeState } from "./address.ts";

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
