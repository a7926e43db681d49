import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Assets } from "../static/html.ts";
import { type GuidePage, renderGuide, securityFile, securityPage } from "./render.ts";

const docs = fileURLToPath(new URL("../../docs", import.meta.url));

/** Every page of the documents, sorted by path. */
export function readGuidePages(): GuidePage[] {
	const names = readdirSync(docs, { recursive: true, encoding: "utf8" });
	const paths = names.map((name) => name.replaceAll("\\", "/")).filter((name) => name.endsWith(".md"));
	const pages = paths.sort().map((path) => ({ path, markdown: readFileSync(join(docs, path), "utf8") }));
	// GitHub expects it at this place, and its links are relative to it.
	const security = readFileSync(join(docs, "..", securityFile), "utf8");
	return [...pages, { path: securityPage, markdown: security.replaceAll("](docs/", "](") }];
}

/** The documents as pages of the site, by path below its root. */
export function guideFiles(assets: Assets): Map<string, string> {
	return renderGuide(readGuidePages(), assets);
}
