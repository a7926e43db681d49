import { langs } from "../../registry/smallkey.ts";
import type { CatalogueOptions } from "../process/site-settings.ts";
import { type PageSettings, pageSettingsPath, pagesVersion } from "../static/page-settings.ts";
import { catalogueHtml, rootHtml } from "../static/site-pages.ts";
import { makeAssets } from "./assets.ts";
import { readGuidePages, renderGuide } from "./guide/guide.ts";
import { schemaFiles } from "./openapi.ts";

export type SiteFiles = Awaited<ReturnType<typeof buildSite>>;

/** The catalogue's files that depend on no layer. */
export async function buildSite(
	{ publicUrl, look, ...options }: Pick<CatalogueOptions, "site" | "publicUrl" | "look">,
	hasLayerPages: boolean,
) {
	const site = { ...options.site, hasLayerPages };
	const { files, assets } = await makeAssets(look);
	const pages: PageSettings = { version: pagesVersion, assets, publicUrl, site };
	files.set("index.html", rootHtml(pages));
	for (const lang of langs) files.set(`${lang}/index.html`, catalogueHtml(lang, pages));
	files.set("site.json", `${JSON.stringify(site)}\n`);
	// A relative server URL is relative to the OpenAPI document (OpenAPI Specification 3.1.1, "Server Object").
	const serverUrl = publicUrl === "" ? ".." : publicUrl.replace(/\/$/, "");
	for (const [name, text] of schemaFiles(site.targets, serverUrl)) files.set(`schemas/${name}`, text);
	for (const [path, text] of renderGuide(readGuidePages(), pages)) files.set(path, text);
	files.set("robots.txt", "User-agent: *\nDisallow:\n");
	files.set(pageSettingsPath, `${JSON.stringify(pages)}\n`);
	return { files, pages };
}
