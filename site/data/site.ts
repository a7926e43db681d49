import { langs } from "../../registry/smallkey.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";
import { catalogueHtml, rootHtml } from "../static/frame.ts";
import { type PageSettings, pageSettingsPath, pagesVersion, type SiteSettings } from "../static/html.ts";
import { searchEngineFiles } from "../static/list-pages.ts";
import { makeAssets } from "./assets.ts";
import { readGuidePages, renderGuide } from "./guide/guide.ts";
import { schemaFiles } from "./openapi.ts";

export type SiteFiles = Awaited<ReturnType<typeof buildSite>>;

/** Bundles the page and renders its HTML. @param publicUrl with a slash at its end; empty if unknown */
export async function buildSite(
	site: SiteSettings,
	publicUrl = "",
	look: CatalogueOptions["look"] = { theme: "", signature: "" },
) {
	const { files, assets } = await makeAssets(look);
	const pages: PageSettings = { version: pagesVersion, assets, publicUrl, site };
	files.set("index.html", rootHtml(pages));
	for (const lang of langs) files.set(`${lang}/index.html`, catalogueHtml(lang, pages));
	files.set("site.json", `${JSON.stringify(site)}\n`);
	return { files, pages };
}

/**
 * The files that depend on no layer: the page, the schemas, the guide, what search engines read first, and
 * the settings of the pages that show layers.
 */
export async function buildPages(options: CatalogueOptions, hasLayerPages: boolean) {
	const { publicUrl, look } = options;
	const site = { ...options.site, hasLayerPages };
	const { files, pages } = await buildSite(site, publicUrl, look);
	// A relative server URL is relative to the OpenAPI document (OpenAPI Specification 3.1.1, "Server Object").
	const url = publicUrl === "" ? ".." : publicUrl.replace(/\/$/, "");
	for (const [name, text] of schemaFiles(site.targets, url)) files.set(`schemas/${name}`, text);
	for (const [path, text] of [...renderGuide(readGuidePages(), pages), ...searchEngineFiles(pages)])
		files.set(path, text);
	files.set(pageSettingsPath, `${JSON.stringify(pages)}\n`);
	return { files, pages };
}
