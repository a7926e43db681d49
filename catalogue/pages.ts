import { targetOf } from "../registry/targets/table.ts";
import { guideFiles } from "./guide/guide.ts";
import { schemaFiles } from "./openapi.ts";
import type { CatalogueOptions } from "./options.ts";
import { buildSite, type SiteFiles } from "./site.ts";
import { apiHtml } from "./static/api.ts";

/** The files of a catalogue that depend on no layer: the page, the schemas, and the interface for programs. */
export async function buildPages({
	site,
	publicUrl,
	fragments,
	version,
}: CatalogueOptions): Promise<SiteFiles> {
	const { files, assets } = await buildSite(site, publicUrl);
	// A relative address of a server is relative to the document (OpenAPI Specification 3.1.1, "Server Object").
	const url = publicUrl === "" ? ".." : publicUrl.replace(/\/$/, "");
	const schemas = schemaFiles({ version, targets: fragments.targets.map(targetOf), url });
	for (const [name, text] of schemas) files.set(`schemas/${name}`, Buffer.from(text));
	const document = JSON.parse(schemas.get("openapi.json") ?? "{}") as object;
	files.set("schemas/index.html", Buffer.from(apiHtml(assets, document, [...schemas.keys()])));
	for (const [path, html] of guideFiles(assets)) files.set(path, Buffer.from(html));
	return { files, assets };
}
