import {
	assetHeaders,
	chunkHeaders,
	documentHeaders,
	machineHeaders,
	manifestHeaders,
	settingsHeaders,
} from "../api/pages.ts";
import { manifestPath } from "../registry/entries.ts";

/** Files of the catalogue that have the same headers. */
export interface SiteGroup {
	name: "assets" | "chunks" | "manifest" | "machines" | "pages" | "settings";
	/** Their paths as in Cloudflare's rules: `*` matches anything. No file has two. */
	paths: readonly string[];
	headers: Readonly<Record<string, string>>;
}

/** The headers of the catalogue's files, the same as from every other engine. */
export const siteGroups: readonly SiteGroup[] = [
	{ name: "assets", paths: ["/assets/*"], headers: assetHeaders },
	{ name: "chunks", paths: ["/index/chunks/*"], headers: chunkHeaders },
	{ name: "manifest", paths: [`/${manifestPath}`], headers: manifestHeaders },
	{
		name: "machines",
		paths: [
			...["/index/health.json", "/changes/*", "/schemas/*.json", "/records/*"],
			...["/sitemap/*", "/sitemap.xml", "/robots.txt", "/opensearch-en.xml", "/opensearch-fr.xml"],
		],
		headers: machineHeaders,
	},
	{
		name: "pages",
		paths: ["/index.html", "/en/*", "/fr/*", "/list/*", "/guide/*", "/schemas/index.html"],
		headers: documentHeaders(true),
	},
	{ name: "settings", paths: ["/site.json", "/pages.json"], headers: settingsHeaders },
];

/** A regular expression for the paths of a group, those of folders included. */
export function patternOf({ paths }: SiteGroup): string {
	const patterns = paths.map((path) =>
		path.replaceAll(".", "\\.").replace("*", ".*").replace("index\\.html", "(?:index\\.html)?"),
	);
	return `^(?:${patterns.join("|")})$`;
}
