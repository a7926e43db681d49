import pMap from "p-map";
import { WrongError } from "../../api/configuration.ts";
import { askService } from "../../api/service/net/ask.ts";
import { matchesGlob } from "../../registry/sender.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { counted } from "../../registry/untrusted-text.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";

export interface RemoveOthers {
	owned: readonly string[];
	yes: boolean;
	maxRemoved: number | undefined;
}

const maxFew = 10;
const maxShare = 0.1;
const minLimit = 2;

/** A folder that a script has left empty must not empty a catalogue. @throws {WrongError} */
export function checkRemoval(
	{ keys, matching }: Awaited<ReturnType<typeof readOthers>>,
	{ owned, maxRemoved }: RemoveOthers,
): void {
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

/** @throws {Error} if the catalogue cannot be read completely */
export async function readOthers(url: string, kept: ReadonlySet<string>, owned: readonly string[]) {
	async function read<T>(path: string, parse: (text: string) => T | null): Promise<T> {
		const answer = await askService(`${url}/${path}`, chunkTimeoutMs, {}, maxChunkBytes);
		const value = answer.ok ? parse(answer.text) : null;
		if (value) return value;
		const reason = answer.ok ? "is of another version" : `answers ${answer.status}`;
		throw new Error(
			`${url}/${path}: ${reason}; --remove-others needs the service's catalogue, which SITE=on builds after a start`,
		);
	}
	const { chunks } = await read(manifestPath, parseManifest);
	const paths = chunks.filter((path) => path !== null);
	const parts = await pMap(paths, (path) => read(path, parseChunk), { concurrency: maxConcurrent });
	const keys = parts.flatMap(({ entries }) => entries.map(({ smallkey }) => smallkey));
	const matching = keys.filter(
		(key) => parseSmallkey(key) !== null && owned.some((glob) => matchesGlob(glob, key)),
	);
	return { keys: matching.filter((key) => !kept.has(key)).sort(), matching: matching.length };
}
