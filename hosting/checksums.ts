import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import pMap from "p-map";
import { filesBelow } from "../files/below.ts";

/** The file of a build's hashes. */
const manifestName = "manifest.json";

/** Files that are read concurrently. */
const atOnce = 16;

/** Lines of one write: a build may have a million files. */
const linesPerWrite = 1_000;

/**
 * Writes `manifest.json` into a build: path → SHA-256 of every other file, sorted by path, so that the same files give
 * the same bytes.
 * @returns the number of files
 */
export async function writeChecksums(out: string): Promise<number> {
	await removeChecksums(out);
	const paths = filesBelow(out).sort();
	const temporary = join(out, `${manifestName}.tmp`);
	const stream = createWriteStream(temporary);
	const failed = once(stream, "error").then(([error]) => Promise.reject(error));
	const write = async (text: string) => {
		if (!stream.write(text)) await Promise.race([once(stream, "drain"), failed]);
	};
	await write('{\n\t"algorithm": "sha256",\n\t"files": {');
	for (let start = 0; start < paths.length; start += linesPerWrite) {
		const some = paths.slice(start, start + linesPerWrite);
		const hashes = await pMap(some, (path) => hashOf(join(out, path)), { concurrency: atOnce });
		const lines = some.map((path, index) => `\n\t\t${JSON.stringify(path)}: "${hashes[index]}"`);
		await write(`${start > 0 ? "," : ""}${lines.join(",")}`);
	}
	stream.end("\n\t}\n}\n");
	await Promise.race([once(stream, "close"), failed]);
	await rename(temporary, join(out, manifestName));
	return paths.length;
}

/** Removes the outdated hashes of an earlier build. */
export async function removeChecksums(out: string): Promise<void> {
	for (const name of [manifestName, `${manifestName}.tmp`]) await rm(join(out, name), { force: true });
}

async function hashOf(path: string): Promise<string> {
	return createHash("sha256")
		.update(await readFile(path))
		.digest("hex");
}
