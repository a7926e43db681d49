import type { Lang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import type { Entry } from "../data/entries.ts";

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

export interface OperatorSettings {
	/** Null: only the name that every site has. */
	name: Readonly<Record<Lang, string>> | null;
	/** A mail address, or the http or https address of a page; empty if unknown. */
	contact: string;
	terms: Readonly<Record<Lang, string>> | null;
	/**
	 * Address of tiles in the official grid of EPSG:3978, with `{z}`, `{y}` and `{x}`; empty for the land's
	 * outline.
	 */
	baseMap: string;
	baseMapAttribution: string;
	/** Address of the public repository, such as `https://github.com/owner/name`; empty without `REPOSITORY_URL`. */
	repository: string;
	branch: string;
}

export interface SiteSettings extends OperatorSettings {
	targets: readonly TargetName[];
	mapWkid: number;
	/** Whether the service accepts signed requests from this page. */
	canSend: boolean;
	metadataUrl: string;
	catalogueUrl: string;
	/** A build of files has no pages for many layers. */
	hasLayerPages: boolean;
}

export interface Signature {
	path: string;
	title: string;
	width: number;
	height: number;
}

/** Paths below the site's root, with content hashes. */
export interface Assets {
	policy: string;
	script: string;
	choose: string;
	tables: string;
	styles: string;
	icon: string;
	landLight: string;
	landDark: string;
	imports: readonly string[];
	/** Further scripts of a layer's page. */
	layerImports: readonly string[];
	english: string;
	french: string;
	worker: string;
	/** Follow those of the site. */
	theme: string | null;
	signature: Signature | null;
}

/** To be raised when pages need other settings, or scripts another page: those of an earlier version are not used. */
export const pagesVersion = 2;

/** The content of `pages.json`. */
export interface PageSettings {
	version: typeof pagesVersion;
	assets: Assets;
	/** With a slash at its end; empty if unknown. */
	publicUrl: string;
	site: SiteSettings;
}

/** What the script of a page reads from it, so that no request is needed. */
export interface PageData extends Pick<Assets, "landLight" | "landDark" | "worker"> {
	site: SiteSettings;
	/** Relative address from the page to the site's root. */
	root: string;
	/** Null on every page but a layer's. */
	entry: Entry | null;
}

/** From the pages in a folder of their language to the site's root. */
export const root = "../../";

export const pageSettingsPath = "pages.json";
