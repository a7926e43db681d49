import { type Lang, parseLang } from "../../registry/smallkey.ts";
import { translator } from "../text/translate.ts";

// Read before the page waits for anything: *Back* could change the address meanwhile, and with it all
// relative addresses.

const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

const loadedFrom = location.href.split(/[?#]/)[0];

export function addressOfLoaded(relative: string): URL {
	return new URL(relative, loadedFrom);
}

for (const link of document.querySelectorAll<HTMLAnchorElement | HTMLLinkElement>("a[href], link[rel=icon]"))
	link.setAttribute("href", link.href);

export { lang };

const loaded = await (lang === "fr"
	? import("../text/french.ts").then(({ french, frenchCauses }) => ({ texts: french, causes: frenchCauses }))
	: import("../text/english.ts").then(({ english, englishCauses }) => {
			return { texts: english, causes: englishCauses };
		}));
export const pageTexts = loaded.texts;
export const texts = { ...translator(lang, pageTexts), causes: loaded.causes };
export const { t, plural, dayText, stateText, typeText, copyText } = texts;

export const layers = (number: number) => plural(number, "layer-count");
