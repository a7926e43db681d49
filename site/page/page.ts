import { type Lang, parseLang } from "../../registry/smallkey.ts";
import { chunksFolder } from "../data/entries.ts";
import type { PageData } from "../static/page-settings.ts";
import { translator } from "../text/translate.ts";

// Read at once: *Back* could change the address, and with it all relative ones.

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

const loadedFrom = location.href.split(/[?#]/)[0];

for (const link of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>("a[href], link[rel=icon]"))
	link.setAttribute("href", link.href);

const loaded = await (lang === "fr" ? import("../text/french.ts") : import("../text/english.ts"));
export const pageTexts = loaded.texts;
export const texts = { ...translator(lang, pageTexts), causes: loaded.causes };
export const { t, plural, dayText, stateText, typeText, copyText } = texts;

const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as PageData;

export const { site: settings, entry: givenEntry } = data;

export const siteName = settings.name?.[lang] ?? t("map-layers");

export const root = new URL(data.root, loadedFrom);

export function addressOf(path: string): URL {
	return new URL(path, root);
}

export const land = addressOf(data.land).href;

export const workerAddress = addressOf(data.worker);

export const isEmbed = document.querySelector("main.embed") !== null;

export function now(): Date {
	return new Date();
}

export function refresh(): void {
	dispatchEvent(new Event("refresh"));
}

const timeoutMs = 30_000;

/**
 * Null if there is no such file.
 * @param cache `default` only for files with a hash in their name: a removed layer would stay for two minutes
 * @throws {TypeError} if the server does not answer in time, or answers with an error
 */
export async function readFile(
	path: string,
	cache: RequestCache,
	signal: AbortSignal,
): Promise<string | null> {
	const ending = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
	// The many chunks must not delay later requests.
	const priority = path.startsWith(chunksFolder) ? "low" : "auto";
	const response = await fetch(addressOf(path), { cache, signal: ending, priority });
	if (response.status === 404) return null;
	if (!response.ok) throw new TypeError(`${path}: ${response.status}`);
	return response.text();
}
