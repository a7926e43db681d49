import type { makeAssets } from "../data/assets.ts";
import type { Entry } from "../data/entries.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";

/** `hasLayerPages`: a build of files has no pages for many layers. */
export type SiteSettings = CatalogueOptions["site"] & { hasLayerPages: boolean };

export type Assets = Awaited<ReturnType<typeof makeAssets>>["assets"];

/** To be raised when pages need other settings, or scripts another page: those of an earlier version are not used. */
export const pagesVersion = 3;

export interface PageSettings {
	version: typeof pagesVersion;
	assets: Assets;
	publicUrl: string;
	site: SiteSettings;
}

/** What the script of a page reads from it, so that no request is needed. */
export interface PageData extends Pick<Assets, "land" | "worker"> {
	site: SiteSettings;
	root: string;
	/** Null on every page but a layer's. */
	entry: Entry | null;
}

/** From the pages in a folder of their language to the site's root. */
export const root = "../../";

export const pageSettingsPath = "pages.json";
