import { html, type TemplateResult } from "lit-html";
import { mondayOf } from "../../registry/health.ts";
import { type Lang, parseLang } from "../../registry/smallkey.ts";
import { english, type Texts } from "../text/english.ts";
import { french } from "../text/french.ts";
import { readState, type State, writeState } from "./address.ts";
import type { Content } from "./dom.ts";
import type { SiteSettings } from "./settings.ts";

const main = document.querySelector("main") as HTMLElement;

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";
export const texts: Texts = lang === "fr" ? french : english;

/** The page holds them: no request waits for them. */
export const settings = JSON.parse(document.getElementById("settings")?.textContent ?? "") as SiteSettings;

/** Root of the site, with a slash at its end: addresses of everything else are below it. */
export const root = new URL("../", location.href.split(/[?#]/)[0]);

/** The addresses of the land's outline. */
export const land = { light: main.dataset.landLight ?? "", dark: main.dataset.landDark ?? "" };

/** The address of the script that finds texts. */
export const workerAddress = new URL(main.dataset.worker ?? "", location.href);

/** The time now. */
export function now(): Date {
	return new Date();
}

/** The state in the address. */
export function currentState(): State {
	return readState(location.search);
}

/** The address of a state in this language. */
export function hrefOf(state: State): string {
	return writeState(state) || location.pathname;
}

/** Changes the address and shows it; `replace` where going back should skip it. */
export function go(state: State, replace = false): void {
	const hash = state.page === "draft" && state.layer === null ? location.hash : "";
	const address = `${location.pathname}${writeState(state)}${replace ? hash : ""}`;
	if (address !== `${location.pathname}${location.search}${location.hash}`)
		history[replace ? "replaceState" : "pushState"](null, "", address);
	dispatchEvent(new PopStateEvent("popstate"));
}

/** Shows what the view says by now. */
export function refresh(): void {
	dispatchEvent(new Event("refresh"));
}

/** What fills the page. */
export interface View {
	/** Text of the window's title. */
	readonly title: string;
	/** What is shown of a state, in one element. */
	content(state: State): TemplateResult;
	/** Follows the state of the address, once it is shown. */
	update?(state: State): void;
	close(): void;
}

/**
 * A file below the site's root; null where there is none. `now` asks again for what the browser keeps (an answer of 304
 * costs no bytes): by its age alone, a layer that was removed would be shown for a minute more, and by
 * `stale-while-revalidate` once more within ten.
 * @throws {TypeError} where nothing answers in time
 */
export async function readFile(
	path: string,
	freshness: Freshness,
	signal: AbortSignal,
): Promise<string | null> {
	const timeout = AbortSignal.timeout(patienceMs);
	const response = await fetch(new URL(path, root), {
		cache: cacheModes[freshness],
		signal: AbortSignal.any([signal, timeout]),
	});
	if (response.status === 404) return null;
	if (!response.ok) throw new TypeError(`${path}: ${response.status}`);
	return response.text();
}

/** How long a file of the site is waited for, in milliseconds. */
const patienceMs = 30_000;

/** How the browser's cache is used for each. A name that holds the hash of its content is never asked for again. */
const cacheModes = { now: "no-cache", kept: "default", "sent again": "reload" } as const;
export type Freshness = keyof typeof cacheModes;

/** A link to another state of this page, without loading the page again. */
export function stateLink(state: State, content: Content): TemplateResult {
	const follow = followHere(() => go(state));
	return html`<a href=${hrefOf(state)} data-layer=${state.layer ?? ""} @click=${follow}>${content}</a>`;
}

/** Follows a link in this page where it is simply clicked, and leaves new tabs and windows to the browser. */
export function followHere(go: () => void): (event: MouseEvent) => void {
	return (event) => {
		const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
		if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
		event.preventDefault();
		go();
	};
}

/** What is wrong with a layer, in words. */
export function stateText(state: string): string {
	return texts.states[state] ?? state;
}

/** A kind of layer, in words. */
export function typeText(type: string): string {
	return texts.types[type] ?? type;
}

/** The day on which a week begins, in words. @param week as ISO 8601 writes it, `2026-W09`: `February 23, 2026` */
export function weekText(week: string): string {
	return dayText(new Date(mondayOf(week)));
}

/** A day in words: `March 4, 2026`, `4 mars 2026`. */
export function dayText(day: Date): string {
	return day.toLocaleDateString(`${lang}-CA`, { dateStyle: "long", timeZone: "UTC" });
}

/** Most different problems that are named at once. */
const maxNamed = 3;

/** What is said of parts of the catalogue that cannot be used, with a way to try again; nothing where all are whole. */
export function problemBox(problems: readonly string[], retry: () => void): Content {
	if (problems.length === 0) return "";
	const named = [...new Set(problems)].slice(0, maxNamed);
	return html`<div class="warning" role="alert">
		${named.map((text) => html`<p>${text}</p>`)}
		<button @click=${retry}>${texts.tryAgain}</button>
	</div>`;
}
