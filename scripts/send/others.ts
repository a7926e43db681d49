import { readFile } from "node:fs/promises";
import pMap from "p-map";
import { WrongError } from "../../api/configuration.ts";
import { askService } from "../../api/service/github.ts";
import { matchesGlob } from "../../registry/owners.ts";
import { parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import { counted } from "../../registry/untrusted-text.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { utf8Of } from "../../store/files/files.ts";

/**
 * Smallkeys with white space or commas between them. `warn` gets a line about an unlikely encoding.
 * @throws {Error} that names the first invalid smallkey
 */
export async function readKeys(path: string, warn: (line: string) => void): Promise<string[]> {
	const bytes = await readFile(path);
	const utf8 = utf8Of(bytes);
	if (utf8 !== bytes) warn(`${path}: is in UTF-16, and read so`);
	const items = utf8.toString().match(/[^\s,]+/g) ?? [];
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}

export interface RemoveOthers {
	/** Globs of the sender's smallkeys. */
	owned: readonly string[];
	/** Remove without a question. */
	yes: boolean;
	/** The most layers that may be removed; undefined: few. */
	maxRemoved: number | undefined;
}

interface Removal {
	/** Those that the folder does not have, sorted. */
	keys: string[];
	/** Number of layers that match the globs. */
	matching: number;
}

/** The default limit of a removal: a number of layers, and a share of those that match. */
const maxFew = 10;
const maxShare = 0.1;
const minLimit = 2;

/** A folder that a script has left empty must not empty a catalogue. @throws {WrongError} */
export function checkRemoval({ keys, matching }: Removal, { owned, maxRemoved }: RemoveOthers): void {
	const few = Math.min(maxFew, Math.max(minLimit, Math.floor(matching * maxShare)));
	const max = maxRemoved ?? few;
	if (keys.length <= max) return;
	throw new WrongError(
		`${keys.length} of the ${counted(matching, "layer")} that match ${owned.join(" ")} are not in the folder, and at most ${max} may be removed: --remove-at-most ${keys.length} allows it. Nothing was sent`,
	);
}

const maxConcurrent = 4;
const chunkTimeoutMs = 60_000;
const maxChunkBytes = 50_000_000;

/**
 * `option`: what needs the catalogue, for the error. @throws {Error} if the catalogue cannot be read
 * completely
 */
export async function readCatalogueKeys(url: string, option: string): Promise<string[]> {
	async function read<T>(path: string, parse: (text: string) => T | null): Promise<T> {
		const answer = await askService(`${url}/${path}`, chunkTimeoutMs, {}, maxChunkBytes);
		const value = answer.ok ? parse(answer.text) : null;
		if (value) return value;
		const reason = answer.ok ? "is of another version" : `answers ${answer.status}`;
		throw new Error(
			`${url}/${path}: ${reason}; ${option} needs the service's catalogue, which SITE=on builds after a start`,
		);
	}
	const { chunks } = await read(manifestPath, parseManifest);
	const paths = chunks.filter((path) => path !== null);
	const parts = await pMap(paths, (path) => read(path, parseChunk), { concurrency: maxConcurrent });
	return parts.flatMap(({ entries }) => entries.map(({ smallkey }) => smallkey));
}

/**
 * The smallkeys of a service's catalogue that match a glob and are not `kept`. @throws {Error} as
 * `readCatalogueKeys`
 */
export async function readOthers(
	url: string,
	kept: ReadonlySet<string>,
	owned: readonly string[],
): Promise<Removal> {
	const keys = await readCatalogueKeys(url, "--remove-others");
	const matching = keys.filter(
		(key) => parseSmallkey(key) !== null && owned.some((glob) => matchesGlob(glob, key)),
	);
	return { keys: matching.filter((key) => !kept.has(key)).sort(), matching: matching.length };
}
