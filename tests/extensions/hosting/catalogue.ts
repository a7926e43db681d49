import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { pageHeaders } from "../../../site/http/pages.ts";
import { ask } from "../../conformance/client.ts";
import { layers } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, runScript } from "../../helpers/process.ts";
import { writeFiles } from "../../helpers/world.ts";

/** The layers of conformance with their catalogue, and compressed copies. @returns the folder of the build */
export async function buildCatalogue(folder: string) {
	const dist = await buildDist(layers, folder);
	const words = ["--layers", join(folder, "layers"), "--out", dist, "--compress"];
	await exits(runScript("build", words, { PUBLIC_URL: "https://fragments.example" }), 0);
	// A folder without git has no history, and so no feed.
	writeFiles(dist, { "changes/feed.xml": "<feed/>" });
	return dist;
}

function catalogueFilesOf(dist: string) {
	const nameIn = (folder: string, ending: string) =>
		`${folder}/${readdirSync(join(dist, folder)).find((name) => name.endsWith(ending))}`;
	return [
		...["index.html", "en/index.html", "list/fr/index.html", "site.json", "pages.json"],
		...["index/index.json", "schemas/openapi.json", "records/index.json", "robots.txt", "changes/feed.xml"],
		...[".js", ".css", ".svg"].map((ending) => nameIn("assets", ending)),
		nameIn("index/chunks", ".json"),
	];
}

/** @param prefix null: the files under their own names @param typeOf what is compared of a Content-Type */
export async function assertCatalogue(
	origin: string,
	dist: string,
	prefix: string | null = "",
	typeOf = (type?: string) => type,
) {
	for (const file of catalogueFilesOf(dist)) {
		const path = prefix === null ? file : `${prefix}${file.replace(/index\.html$/, "")}?q=1`;
		const { status, headers, bytes } = await ask(origin, "GET", `/${path}`);
		assert.is(status, 200, path);
		assert.ok(bytes.equals(readFileSync(join(dist, file))), path);
		const { "Content-Type": type, ...expected } = pageHeaders(file);
		assert.is(typeOf(headers["content-type"]), typeOf(type), path);
		const others = ["Access-Control-Allow-Origin", "Content-Security-Policy", "Referrer-Policy"];
		for (const name of [...others, ...Object.keys(expected)])
			assert.is(headers[name.toLowerCase()], expected[name], `${path}: ${name}`);
		for (const encoding of ["identity", "gzip"]) {
			const words = { "Accept-Encoding": encoding };
			const { etag = "" } = (await ask(origin, "GET", `/${path}`, { headers: words })).headers;
			const again = await ask(origin, "GET", `/${path}`, { headers: { ...words, "If-None-Match": etag } });
			assert.equal([again.status, again.headers["cache-control"]], [304, expected["Cache-Control"]], path);
		}
	}
}
