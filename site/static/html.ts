import { causes } from "../../registry/health.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { texts as english } from "../text/english.ts";
import { texts as french } from "../text/french.ts";
import { type StaticCode, staticTexts } from "../text/static.ts";
import { translator } from "../text/translate.ts";
import { type Html, html, type Part } from "./markup.ts";

export { escapeHtml, Html, html, type Part, scriptData } from "./markup.ts";

export const textsIn = {
	en: { ...translator("en", { ...english, ...staticTexts.en }), causes: causes.en },
	fr: { ...translator("fr", { ...french, ...staticTexts.fr }), causes: causes.fr },
};

export type StaticText = keyof typeof english | StaticCode;

/** A text in both languages, for what exists only once. */
export function inBoth(code: StaticText, ...values: readonly string[]): string {
	return langs.map((lang) => textsIn[lang].t(code, ...values)).join(" · ");
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
	/** Address of the public repository, such as `https://github.com/owner/name`; empty if there is none. */
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
	/** Further scripts of a layer's page; settings of an earlier version have none. */
	layerImports?: readonly string[];
	english: string;
	french: string;
	worker: string;
	/** Follow those of the site. */
	theme: string | null;
	signature: Signature | null;
}

/** The content of `pages.json`. */
export interface PageSettings {
	assets: Assets;
	/** With a slash at its end; empty if unknown. */
	publicUrl: string;
	site: SiteSettings;
}

export function contentsHtml(parts: readonly { id: string; text: Part }[], lang: Lang): Html {
	const items = parts.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>\n`);
	return html`<nav class="contents" aria-label="${textsIn[lang].t("on-this-page")}"><ul class="columns">\n${items}</ul></nav>`;
}

export function siteName({ name }: Pick<SiteSettings, "name">, lang: Lang): string {
	return name?.[lang] ?? textsIn[lang].t("map-layers");
}

/** From the pages in a folder of their language to the site's root. */
export const root = "../../";

export const pageSettingsPath = "pages.json";
