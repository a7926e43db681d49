import { mkdir, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import * as assert from "uvu/assert";
import { pageHeaders } from "../../../site/http/site-headers.ts";

/** Files of a catalogue, one of each kind. */
export const pages = [
	...[
		"index.html",
		"en/index.html",
		"list/2.html",
		"schemas/index.html",
		"schemas/openapi.json",
		"site.json",
	],
	...["en/layer/abc.html", "list/fr/index.html", "pages.json", "robots.txt", "records/index.json"],
	...["index/index.json", "index/chunks/08-0123456789abcdef.json", "changes/feed.xml"],
	...["assets/main-ABCDEFGH.js", "assets/styles-0123456789.css", "assets/land-0123456789.svg"],
] as const;

export function contentOf(path: string): string {
	return `content of ${path}`;
}

export async function writePages(dist: string): Promise<void> {
	for (const path of pages) {
		await mkdir(dirname(join(dist, path)), { recursive: true });
		await writeFile(join(dist, path), contentOf(path));
		await writeFile(join(dist, `${path}.gz`), gzipSync(contentOf(path)));
	}
}

export function addressOf(path: string): string {
	return `/${path.replace(/index\.html$/, "")}`;
}

/** A file of the catalogue has the headers of the service, except for its type. */
export function assertPageHeaders(path: string, headers: IncomingHttpHeaders, place = path): void {
	const { "Content-Type": _, ...expected } = pageHeaders(path, true);
	const others = ["Access-Control-Allow-Origin", "Content-Security-Policy", "Referrer-Policy"];
	for (const name of [...others, ...Object.keys(expected)])
		assert.is(headers[name.toLowerCase()], expected[name], `${place}: ${name}`);
}
