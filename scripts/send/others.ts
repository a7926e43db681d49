import pMap from "p-map";
import { type Io, WrongError } from "../../api/configuration.ts";
import { askService, errorsOf } from "../../api/service/net/ask.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { matchesGlob } from "../../registry/sender.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { counted, plain, tryJson } from "../../registry/untrusted-text.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { blobId } from "../../store/hashes.ts";

export interface RemoveOthers {
	owned: readonly string[];
	yes: boolean;
	/** Whether all files of the folder are right: else nothing is removed. */
	isComplete: boolean;
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

/** The git blob id of a registration, from `/status`. @throws {Error} where the service does not say what it has */
async function storedId(url: string, smallkey: string): Promise<string | null> {
	const address = `${url}/status/${encodeURIComponent(smallkey)}`;
	const answer = await askService(address, chunkTimeoutMs);
	const { etag = null } = (tryJson(answer.text) ?? {}) as { etag?: string | null };
	if (answer.ok) return etag?.slice(1, -1) ?? null;
	const errors = errorsOf(answer);
	// With the layers on GitHub, the service does not say which ones it has (`answerStatus` in api/app.ts).
	if (answer.status === 404 && !errors.some((error) => error.startsWith("status: "))) return null;
	throw new Error(plain(`${address}: answers ${[answer.status, ...errors].join(": ")}`));
}

export type Comparison = Record<"added" | "changed" | "unchanged", string[]>;

export async function compareWithService(
	url: string,
	registrations: ReadonlyMap<string, Registration>,
): Promise<Comparison> {
	const comparison: Comparison = { added: [], changed: [], unchanged: [] };
	const compare = async ([smallkey, registration]: [string, Registration]) => {
		const id = await storedId(url, smallkey);
		const isSame = id === (await blobId(canonicalText(registration)));
		comparison[id === null ? "added" : isSame ? "unchanged" : "changed"].push(smallkey);
	};
	await pMap(registrations, compare, { concurrency: maxConcurrent });
	for (const keys of Object.values(comparison)) keys.sort();
	return comparison;
}

/** Prints what would be added, changed and removed. */
export function printComparison(
	comparison: Comparison,
	removed: readonly string[],
	{ json, io }: { json: boolean; io: Pick<Io, "print"> },
): void {
	const lists = { ...comparison, removed };
	if (json) return io.print(JSON.stringify(lists));
	for (const [name, keys] of Object.entries(lists))
		io.print(
			`${keys.length} ${name}${name === "unchanged" || keys.length === 0 ? "" : `: ${keys.join(" ")}`}`,
		);
	io.print("nothing was sent");
}
