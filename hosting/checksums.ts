import { createHash } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { filesBelow } from "../files/below.ts";
import { placeFile } from "../publish/place-file.mjs";

/** The file of a build's hashes. */
const manifestName = "manifest.json";

/**
 * Writes `manifest.json` into a build: path → SHA-256 of every other file, sorted by path, so that the same files give
 * the same bytes.
 */
export async function writeChecksums(out: string): Promise<void> {
	await removeChecksums(out);
	const paths = filesBelow(out).sort();
	const hashOf = async (path: string) => {
		const bytes = await readFile(join(out, path));
		return [path, createHash("sha256").update(bytes).digest("hex")];
	};
	const files = Object.fromEntries(await pMap(paths, hashOf, { concurrency: 16 }));
	const text = JSON.stringify({ algorithm: "sha256", files }, null, "\t");
	placeFile(out, manifestName, Buffer.from(`${text}\n`));
}

/** Removes the outdated hashes of an earlier build. */
export async function removeChecksums(out: string): Promise<void> {
	await rm(join(out, manifestName), { force: true });
}
