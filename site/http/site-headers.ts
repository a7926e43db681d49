import { fragmentHeaders, machineHeaders } from "../../api/reply.ts";
import { langs } from "../../registry/smallkey.ts";
import { chunksFolder, manifestPath } from "../data/entries.ts";
import { contentPolicy } from "../static/frame.ts";
import { pageSettingsPath } from "../static/html.ts";

export const pageTypes: Readonly<Record<string, string>> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
	svg: "image/svg+xml",
	webp: "image/webp",
	xml: "application/atom+xml; charset=utf-8",
	txt: "text/plain; charset=utf-8",
	json: fragmentHeaders["Content-Type"],
};

const nosniff = { "X-Content-Type-Options": "nosniff" };

/** @param isSecure whether the page is served over https only @param mayBeFramed by pages of other sites */
export function documentHeaders(isSecure: boolean, mayBeFramed = false): Record<string, string> {
	return {
		"Cache-Control": "no-cache",
		"Content-Security-Policy": `${contentPolicy(isSecure)}; frame-ancestors ${mayBeFramed ? "*" : "'none'"}`,
		"Referrer-Policy": "strict-origin-when-cross-origin",
		...nosniff,
	};
}

const immutable = "public, max-age=31536000, immutable";

/**
 * On every engine; pages are served over https. Paths are as in Cloudflare's rules: `*` matches anything, and a file matches at
 * most one path.
 */
export const siteGroups = [
	// The names of assets and chunks contain a hash of their content.
	{ paths: ["/assets/*"], headers: { "Cache-Control": immutable, ...nosniff } },
	{ paths: [`/${chunksFolder}/*`], headers: { ...machineHeaders, "Cache-Control": immutable } },
	// Clients revalidate the manifest at each use, so that no removed layer is shown.
	{ paths: [`/${manifestPath}`], headers: { ...machineHeaders, "Cache-Control": "no-cache" } },
	{
		paths: [
			...["/index/health.json", "/changes/*", "/schemas/*.json", "/records/*"],
			...["/sitemap/*", "/sitemap.xml", "/robots.txt"],
		],
		headers: machineHeaders,
	},
	{
		paths: [
			...["/index.html", "/list/*", "/guide/*"],
			...langs.flatMap((lang) =>
				["index.html", "layer/*", "changes/*", "publisher/*"].map((path) => `/${lang}/${path}`),
			),
		],
		headers: documentHeaders(true),
	},
	{ paths: langs.map((lang) => `/${lang}/embed/*`), headers: documentHeaders(true, true) },
	{ paths: ["/site.json", `/${pageSettingsPath}`], headers: { "Cache-Control": "no-cache", ...nosniff } },
];

const patterns = siteGroups.map(({ paths, headers }) => {
	const pattern = paths.join("|").replaceAll(".", "\\.").replaceAll("*", ".*");
	// The path of a folder stands for its `index.html`, too.
	return [new RegExp(`^(?:${pattern.replaceAll("index\\.html", "(?:index\\.html)?")})$`), headers] as const;
});

const embedded = new RegExp(`^(?:${langs.join("|")})/embed/`);

export function pageHeaders(file: string, isSecure: boolean): Record<string, string> {
	const ending = file.slice(file.lastIndexOf(".") + 1);
	const typeOfName = file.startsWith("sitemap") ? "application/xml; charset=utf-8" : pageTypes[ending];
	const type = { "Content-Type": typeOfName ?? "application/octet-stream" };
	if (ending === "html") return { ...type, ...documentHeaders(isSecure, embedded.test(file)) };
	const [, headers = machineHeaders] = patterns.find(([pattern]) => pattern.test(`/${file}`)) ?? [];
	return { ...type, ...headers };
}
