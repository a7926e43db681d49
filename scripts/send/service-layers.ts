// What a service has, compared with a folder of registrations.
import pMap from "p-map";
import type { Io } from "../../api/configuration.ts";
import { askService, errorsOf } from "../../api/service/net/ask.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { matchesGlob } from "../../registry/sender.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { plain } from "../../registry/untrusted-text.ts";
import { tryJson } from "../../registry/values.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { blobId } from "../../store/hashes.ts";

export type Registrations = ReadonlyMap<string, Registration>;

const maxReads = 4;
const readTimeoutMs = 60_000;
const maxChunkBytes = 50_000_000;

export type Surplus = Awaited<ReturnType<typeof findSurplus>>;

/**
 * The smallkeys in the service's catalogue that match `owned`, and are not in the folder. `matching`: how many
 * match.
 * @throws {Error} if the catalogue cannot be read completely
 */
export async function findSurplus(url: string, registrations: Registrations, owned: readonly string[]) {
	async function read<T>(path: string, parse: (text: string) => T | null): Promise<T> {
		const { ok, status, text } = await askService(`${url}/${path}`, readTimeoutMs, {}, maxChunkBytes);
		const value = ok ? parse(text) : null;
		if (value) return value;
		throw new Error(
			`${url}/${path}: ${ok ? "is of another version" : `answers ${status}`}; --remove-others needs the service's catalogue, which SITE=on builds after a start`,
		);
	}
	const { chunks, commit } = await read(manifestPath, parseManifest);
	const paths = chunks.filter((path) => path !== null);
	const parts = await pMap(paths, (path) => read(path, parseChunk), { concurrency: maxReads });
	const smallkeys = parts.flatMap(({ entries }) => entries.map(({ smallkey }) => smallkey));
	const matching = smallkeys.filter(
		(key) => parseSmallkey(key) !== null && owned.some((glob) => matchesGlob(glob, key)),
	);
	const keys = matching.filter((key) => !registrations.has(key)).sort();
	return { keys, matching: matching.length, commit };
}

/** The git blob id of a registration, from `/status`. @throws {Error} where the service does not say what it has */
async function storedId(url: string, smallkey: string): Promise<string | null> {
	const address = `${url}/status/${encodeURIComponent(smallkey)}`;
	const answer = await askService(address, readTimeoutMs);
	const { etag = null } = (tryJson(answer.text) ?? {}) as { etag?: string | null };
	if (answer.ok) return etag?.slice(1, -1) ?? null;
	const errors = errorsOf(answer);
	// With the layers on GitHub, the service does not say which ones it has (`answerStatus` in api/app.ts).
	if (answer.status === 404 && !errors.some((error) => error.startsWith("status: "))) return null;
	throw new Error(plain(`${address}: answers ${[answer.status, ...errors].join(": ")}`));
}

export type Comparison = Record<"added" | "changed" | "unchanged", string[]>;

export async function compareWithService(url: string, registrations: Registrations): Promise<Comparison> {
	const comparison: Comparison = { added: [], changed: [], unchanged: [] };
	const compare = async ([smallkey, registration]: [string, Registration]) => {
		const id = await storedId(url, smallkey);
		const isSame = id === (await blobId(canonicalText(registration)));
		comparison[id === null ? "added" : isSame ? "unchanged" : "changed"].push(smallkey);
	};
	await pMap(registrations, compare, { concurrency: maxReads });
	for (const keys of Object.values(comparison)) keys.sort();
	return comparison;
}

/** Prints what would be added, changed and removed. */
export function printComparison(
	comparison: Comparison,
	surplus: readonly string[],
	json: boolean,
	{ print }: Io,
): void {
	const lists = { ...comparison, removed: surplus };
	if (json) return print(JSON.stringify(lists));
	for (const [name, keys] of Object.entries(lists))
		print(`${keys.length} ${name}${name === "unchanged" || keys.length === 0 ? "" : `: ${keys.join(" ")}`}`);
	print("nothing was sent");
}
