import { causes } from "../../registry/causes.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import type { SiteSettings } from "../page/settings.ts";
import { english } from "../text/english.ts";
import { englishStatic } from "../text/english-static.ts";
import { french } from "../text/french.ts";
import { frenchStatic } from "../text/french-static.ts";
import { translator } from "../text/translate.ts";

/** For text inside elements and quoted attributes. */
export function escapeHtml(text: string): string {
	if (!/[&<>"']/.test(text)) return text;
	return text
		.replaceAll("&", "&amp;")
		.replaceAll("<", "&lt;")
		.replaceAll(">", "&gt;")
		.replaceAll('"', "&quot;")
		.replaceAll("'", "&#39;");
}

/** Text that is HTML already and is not escaped again. */
export class Html {
	constructor(readonly text: string) {}
}

/** Texts are escaped. Null, undefined and false render nothing. */
export type Part = Html | string | number | null | undefined | false | readonly Part[];

/** Template tag that escapes texts. Attributes must be in double quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
	let text = strings[0] as string;
	for (const [at, part] of parts.entries()) text += textOf(part) + strings[at + 1];
	return new Html(text);
}

function textOf(part: Part): string {
	if (part instanceof Html) return part.text;
	if (Array.isArray(part)) return part.map(textOf).join("");
	return part === null || part === undefined || part === false ? "" : escapeHtml(String(part));
}

/** JSON for a `script` element. It has no `<`, so that it cannot end the element. */
export function scriptData(value: object): Html {
	return new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));
}

/** The texts of pages without a script. */
export const textsIn = {
	en: { ...translator("en", { ...english, ...englishStatic }), causes: causes.en },
	fr: { ...translator("fr", { ...french, ...frenchStatic }), causes: causes.fr },
};

export type StaticText = keyof typeof english | keyof typeof englishStatic;

/** For what exists only once. */
export function inBoth(code: StaticText, ...values: readonly string[]): string {
	return langs.map((lang) => textsIn[lang].t(code, ...values)).join(" · ");
}

/** The operator's signature, an SVG in the header of each page. */
export interface Signature {
	path: string;
	/** Its text alternative. */
	title: string;
	/** In any unit. */
	width: number;
	height: number;
}

/**
 * The content policy of every page, and the files that pages load: paths below the site's root, with content
 * hashes.
 */
export interface Assets {
	policy: string;
	script: string;
	/** Of the root page; chooses a language. */
	choose: string;
	/** Sorts and filters tables. */
	tables: string;
	styles: string;
	icon: string;
	landLight: string;
	landDark: string;
	/** Scripts that the page's script imports statically. */
	imports: readonly string[];
	/** The texts of the page, of which each page loads one. */
	english: string;
	french: string;
	worker: string;
	/** The operator's styles, which follow those of the site; null if there are none. */
	theme: string | null;
	signature: Signature | null;
}

/** The content of `pages.json`: what a page without a script needs beside the entries. */
export interface PageSettings {
	assets: Assets;
	/** Address of the site with a slash at its end; empty if unknown. */
	publicUrl: string;
	site: SiteSettings;
}

/** @param parts each with the id of its heading */
export function contentsHtml(parts: readonly { id: string; text: Part }[], lang: Lang): Html {
	const items = parts.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>\n`);
	return html`<nav class="contents" aria-label="${textsIn[lang].t("on-this-page")}"><ul class="columns">\n${items}</ul></nav>`;
}

export function siteName({ name }: Pick<SiteSettings, "name">, lang: Lang): string {
	return name?.[lang] ?? textsIn[lang].t("map-layers");
}

/** For pages that the service renders on request. */
export const pageSettingsPath = "pages.json";
