import { type Lang, parseLang } from "../../registry/smallkey.ts";

// What is read from the document before the page waits for anything: meanwhile *Back* can change its address, and every
// relative address in it would lead elsewhere.

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

const loadedFrom = location.href.split(/[?#]/)[0];

/** An address that is relative to the one with which the page was loaded. */
export function addressOfLoaded(relative: string): URL {
	return new URL(relative, loadedFrom);
}

for (const link of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>("a[href], link[rel=icon]"))
	link.setAttribute("href", link.href);
