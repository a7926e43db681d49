import type { makeAssets } from "../data/assets.ts";
import type { Entry } from "../data/entries.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";

const escapes: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

export function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (sign) => escapes[sign] ?? "");
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

/** Without `<`, so that it cannot end the `script` element. */
export function scriptData(value: object): Html {
	return new Html(JSON.stringify(value).replaceAll("<", "\\u003c"));
}

/** `hasLayerPages`: a build of files has no pages for many layers. */
export type SiteSettings = CatalogueOptions["site"] & { hasLayerPages: boolean };

export type Assets = Awaited<ReturnType<typeof makeAssets>>["assets"];

/** To be raised when pages need other settings, or scripts another page: those of an earlier version are not used. */
export const pagesVersion = 3;

/** The content of `pages.json`. */
export interface PageSettings {
	version: typeof pagesVersion;
	assets: Assets;
	publicUrl: string;
	site: SiteSettings;
}

/** What the script of a page reads from it, so that no request is needed. */
export interface PageData extends Pick<Assets, "land" | "worker"> {
	site: SiteSettings;
	/** Relative address from the page to the site's root. */
	root: string;
	/** Null on every page but a layer's. */
	entry: Entry | null;
}

/** From the pages in a folder of their language to the site's root. */
export const root = "../../";

export const pageSettingsPath = "pages.json";
