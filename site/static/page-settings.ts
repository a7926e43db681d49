import type { makeAssets } from "../data/assets.ts";
import type { Entry } from "../data/entries.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";

/** A build of files has no pages for many layers. */
export type SiteSettings = CatalogueOptions["site"] & { hasLayerPages: boolean };

export type Assets = Awaited<ReturnType<typeof makeAssets>>["assets"];

/** Raise it when pages need other settings, or scripts another page. */
export const pagesVersion = 3;

export interface PageSettings {
	version: typeof pagesVersion;
	assets: Assets;
	publicUrl: string;
	site: SiteSettings;
}

/** The page contains it, so that the script needs no request. */
export interface PageData extends Pick<Assets, "land" | "worker"> {
	site: SiteSettings;
	root: string;
	/** The layer of the page; null on other pages. */
	entry: Entry | null;
}

/** The site's root from pages in a folder of their language. */
export const root = "../../";

export const pageSettingsPath = "pages.json";
