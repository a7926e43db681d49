import { type Lang, parseLang } from "../../registry/smallkey.ts";

// Read before the page waits for anything: *Back* could change the address meanwhile, and with it all
// relative addresses.

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

const loadedFrom = location.href.split(/[?#]/)[0];

export function addressOfLoaded(relative: string): URL {
	return new URL(relative, loadedFrom);
}

for (const link of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>("a[href], link[rel=icon]"))
	link.setAttribute("href", link.href);
