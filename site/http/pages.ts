import { fragmentHeaders, headersOfAnyType, type Reply, refusalCaching } from "../../api/reply.ts";
import { decodeSegment, type Lang, langs, parseSmallkey } from "../../registry/smallkey.ts";
import { chunksFolder, type LayerPage, manifestPath, recentPath } from "../data/entries.ts";
import { feedPath, layerFile, pageFolders } from "../static/addresses.ts";
import { contentPolicy } from "../static/frame.ts";
import { pageSettingsPath } from "../static/page-settings.ts";
import { type ErrorKind, errorHtml, reloadSeconds } from "../static/site-pages.ts";

const pageTypes: Readonly<Record<string, string>> = {
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

function documentHeaders({ isSecure = true, mayBeFramed = false } = {}): Record<string, string> {
	return {
		"Cache-Control": "no-cache",
		"Content-Security-Policy": `${contentPolicy(isSecure)}; frame-ancestors ${mayBeFramed ? "*" : "'none'"}`,
		"Referrer-Policy": "strict-origin-when-cross-origin",
		...nosniff,
	};
}

const immutable = "public, max-age=31536000, immutable";

/** As in Cloudflare's rules, `*` matches anything. A file matches at most one path. */
export const siteGroups = [
	// The names of assets and chunks contain a hash of their content.
	{ paths: ["/assets/*"], headers: { "Cache-Control": immutable, ...nosniff } },
	{ paths: [`/${chunksFolder}/*`], headers: { ...headersOfAnyType, "Cache-Control": immutable } },
	// Clients revalidate the manifest at each use, so that no removed layer is shown.
	{ paths: [`/${manifestPath}`], headers: { ...headersOfAnyType, "Cache-Control": "no-cache" } },
	{
		paths: [...["/index/health.json", "/changes/*", "/schemas/*.json", "/records/*"], "/robots.txt"],
		headers: headersOfAnyType,
	},
	{
		paths: [
			...["/index.html", "/list/*", "/guide/*"],
			...langs.flatMap((lang) => ["index.html", "layer/*", "changes/*"].map((path) => `/${lang}/${path}`)),
		],
		headers: documentHeaders(),
	},
	{ paths: langs.map((lang) => `/${lang}/embed/*`), headers: documentHeaders({ mayBeFramed: true }) },
	{ paths: ["/site.json", `/${pageSettingsPath}`], headers: { "Cache-Control": "no-cache", ...nosniff } },
];

const patterns = siteGroups.map(({ paths, headers }) => {
	const pattern = paths.join("|").replaceAll(".", "\\.").replaceAll("*", ".*");
	// The path of a folder stands for its `index.html`, too.
	return [new RegExp(`^(?:${pattern.replaceAll("index\\.html", "(?:index\\.html)?")})$`), headers] as const;
});

const embedded = /^(?:en|fr)\/embed\//;

export function pageHeaders(file: string, { isSecure = true } = {}): Record<string, string> {
	const ending = file.slice(file.lastIndexOf(".") + 1);
	const type = { "Content-Type": pageTypes[ending] ?? "application/octet-stream" };
	if (ending === "html")
		return { ...type, ...documentHeaders({ isSecure, mayBeFramed: embedded.test(file) }) };
	const [, headers = headersOfAnyType] = patterns.find(([pattern]) => pattern.test(`/${file}`)) ?? [];
	return { ...type, ...headers };
}

const segmentOf = (path: string) => path.split("/")[1] ?? "";

/** The first page is at `/` only. */
const fileSegments: ReadonlySet<string> = new Set(
	siteGroups.flatMap(({ paths }) => paths.map(segmentOf)).filter((segment) => segment !== "index.html"),
);

/** At most 200 characters, with names of A-Z a-z 0-9 . _ - that do not begin with a dot. */
const filePath = /^(?=.{1,200}$)(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

export interface PageRoute {
	file: string;
	root: string;
	layer?: { lang: Lang; page: LayerPage; smallkey: string };
}

const layerPage = /^(en|fr)\/(layer|embed)\/([^/]{1,200}?)(?:\.html)?$/;

/** Addresses of earlier versions → the present ones. */
const moved = [
	[/^(?:changes\/layer\/[^/]{1,200}|publisher\/[a-z0-9-]{1,80})\.xml$/, feedPath],
	[/^((?:en|fr)\/)?publisher(?:\/([a-z0-9-]{0,80})(?:\.(?:json|csv))?)?$/, "$1?q=$2"],
	[/^(en|fr)\/health(?:\/(?:index\.html)?)?$/, "$1/?health=sick"],
	[/^changes\/(?:index|\d{1,6})\.json$/, recentPath],
] as const;

/**
 * @param target the path below `basePath`, with its query
 * @returns a text for a redirect to that address; null if the path is not the catalogue's
 */
export function parsePage(target: string, basePath: string): PageRoute | string | null {
	const [path = ""] = target.split("?", 1);
	const query = target.slice(path.length);
	if (path === "") return `${basePath}/${query}`;
	if (path === "/") return { file: "index.html", root: "./" };
	if (!path.startsWith("/")) return null;
	const below = path.slice(1);
	const root = rootFrom(below);
	const match = layerPage.exec(below);
	if (match) {
		const [lang, page, key = ""] = match.slice(1) as [Lang, LayerPage, string];
		const smallkey = parseSmallkey(decodeSegment(key) ?? "");
		return smallkey && { file: layerFile(lang, smallkey, page), root, layer: { lang, page, smallkey } };
	}
	for (const [address, place] of moved)
		if (address.test(below)) return `${basePath}/${below.replace(address, place)}`;
	if (!fileSegments.has(segmentOf(path))) return null;
	// Its relative links need a slash at the end.
	if (pageFolders.includes(below)) return `${basePath}${path}/${query}`;
	const file = below.endsWith("/") ? `${below}index.html` : below;
	return filePath.test(file) ? { file, root } : null;
}

/** `../`, or `./` at the root. @param path without its first slash */
export function rootFrom(path: string): string {
	return "../".repeat(path.split("/").length - 1) || "./";
}

export function answerErrorPage(kind: ErrorKind, root: string): Reply {
	const isBuilding = kind === "building";
	return {
		status: isBuilding ? 503 : 404,
		headers: {
			...documentHeaders(),
			"Content-Type": pageTypes.html as string,
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
			"Cache-Control": isBuilding ? "no-store" : refusalCaching,
			...(isBuilding && { "Retry-After": String(reloadSeconds) }),
		},
		...(isBuilding && { cause: "the catalogue is not written yet" }),
		body: new TextEncoder().encode(errorHtml(kind, root)),
	};
}

/** An error page repeats the root, and a path may have thousands of folders. */
const maxRootLength = 60;

export function answerNoPage(target: string, basePath: string): Reply {
	const [path = ""] = target.slice(1).split("?", 1);
	const root = rootFrom(path);
	return answerErrorPage("no-page", root.length > maxRootLength ? `${basePath}/` : root);
}
