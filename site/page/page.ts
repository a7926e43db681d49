import { mondayOf } from "../../registry/health.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Catalogue, CatalogueProblem, Freshness } from "../search/catalogue.ts";
import type { Texts } from "../text/english.ts";
import type { State } from "./address.ts";
import { h } from "./dom.ts";
import type { SiteSettings } from "./settings.ts";

/** What every view is given. */
export interface Page {
	lang: Lang;
	texts: Texts;
	settings: SiteSettings;
	/** Root of the site, with a slash at its end: addresses of everything else are below it. */
	root: URL;
	catalogue: Catalogue;
	/** The addresses of the land's outline. */
	land: { light: string; dark: string };
	/** The time now. */
	now(): Date;
	/** The state in the address. */
	state(): State;
	/** Changes the address and shows it; `replace` where going back should skip it. */
	go(state: State, replace?: boolean): void;
	/** The address of a state in this language. */
	href(state: State): string;
}

/** A part of the page that follows the state. */
export interface View {
	element: HTMLElement;
	/** Text of the window's title. */
	title(): string;
	update(state: State): void;
	close(): void;
}

/**
 * A file below the site's root; null where there is none. `now` asks again for what the browser keeps (an answer of 304
 * costs no bytes): by its age alone, a layer that was removed would be shown for a minute more, and by
 * `stale-while-revalidate` once more within ten.
 * @throws {TypeError} where nothing answers in time
 */
export async function readFile(
	root: URL,
	path: string,
	freshness: Freshness = "now",
	signal?: AbortSignal,
): Promise<string | null> {
	const timeout = AbortSignal.timeout(patienceMs);
	const response = await fetch(new URL(path, root), {
		cache: cacheModes[freshness],
		signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
	});
	if (response.status === 404) return null;
	if (!response.ok) throw new TypeError(`${path}: ${response.status}`);
	return response.text();
}

/** How long a file of the site is waited for, in milliseconds. */
const patienceMs = 30_000;

/** How the browser's cache is used for each. A name that holds the hash of its content is never asked for again. */
const cacheModes = { now: "no-cache", kept: "default", "sent again": "reload" } as const;

/** A link to another state of this page, without loading the page again. */
export function stateLink(page: Page, state: State, ...children: (Node | string)[]): HTMLAnchorElement {
	const link = h("a", { href: page.href(state) }, ...children);
	followHere(link, () => page.go(state));
	return link;
}

/** Follows a link in this page where it is simply clicked, and leaves new tabs and windows to the browser. */
export function followHere(link: HTMLAnchorElement, go: () => void): void {
	link.addEventListener("click", (event) => {
		const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
		if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
		event.preventDefault();
		go();
	});
}

/** What is wrong with a layer, in words. */
export function stateText(texts: Texts, state: string): string {
	return texts.states[state] ?? state;
}

/** A kind of layer, in words. */
export function typeText(texts: Texts, type: string): string {
	return texts.types[type] ?? type;
}

/** The day on which a week begins, in words. @param week as ISO 8601 writes it, `2026-W09`: `February 23, 2026` */
export function weekText(lang: Lang, week: string): string {
	return dayText(lang, new Date(mondayOf(week)));
}

/** A day in words: `March 4, 2026`, `4 mars 2026`. */
export function dayText(lang: Lang, day: Date): string {
	return day.toLocaleDateString(`${lang}-CA`, { dateStyle: "long", timeZone: "UTC" });
}

/** Most different problems that are named at once. */
const maxNamed = 3;

/** What is said of parts of the catalogue that cannot be used, with a way to try again; null where all are whole. */
export function problemBox(
	texts: Texts,
	problems: readonly CatalogueProblem[],
	retry: () => void,
): HTMLElement | null {
	if (problems.length === 0) return null;
	const named = new Set(problems.map((problem) => problemText(texts, problem)));
	return h(
		"div",
		{ class: "warning", role: "alert" },
		[...named].slice(0, maxNamed).map((text) => h("p", {}, text)),
		h("button", { onclick: retry }, texts.tryAgain),
	);
}

function problemText(texts: Texts, problem: CatalogueProblem): string {
	if (problem.kind === "version") return texts.problemVersion;
	return problem.kind === "file" ? texts.problemPiece(problem.path) : texts.problemNetwork;
}
