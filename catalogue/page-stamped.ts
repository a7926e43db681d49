import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, keepFile } from "../files/cache.ts";
import { codeStamp } from "../files/code-stamp.ts";
import type { PageBundle } from "./page-bundle.ts";

/**
 * The bundle as an earlier process has kept it; made, which takes two seconds, where a file is another since.
 * @param path - where it is kept
 */
export async function readPageBundle(
	path = join(cacheFolder, "page-bundle.json"),
	make: () => Promise<PageBundle> = makeBundle,
): Promise<PageBundle> {
	const stamp = codeStamp();
	const kept = await readKept(path, stamp);
	if (kept) return kept;
	const bundle = await make();
	await keepFile(path, JSON.stringify({ stamp, bundle }));
	return bundle;
}

/** Loads what makes it only now: esbuild, the compiler of schemas and the map's projections take longer than the rest. */
async function makeBundle(): Promise<PageBundle> {
	const { bundlePage } = await import("./page-bundle.ts");
	return (await bundlePage()).bundle;
}

async function readKept(path: string, stamp: string): Promise<PageBundle | null> {
	try {
		const kept = JSON.parse(await readFile(path, "utf8")) as { stamp: string; bundle: PageBundle };
		return kept.stamp === stamp ? kept.bundle : null;
	} catch {
		// It is only kept to be quicker.
		return null;
	}
}
