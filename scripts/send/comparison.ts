import pMap from "p-map";
import { type Io, WrongError } from "../../api/configuration.ts";
import { askService, errorsOf } from "../../api/service/net/ask.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { matchesGlob } from "../../registry/sender.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { counted, tryJson } from "../../registry/untrusted-text.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { blobId } from "../../store/hashes.ts";

type Verb = "added" | "changed" | "unchanged" | "removed";

export function comparisonOf(
	verbs: readonly (readonly [smallkey: string, verb: Verb | null])[],
	removed: readonly string[] = [],
) {
	const keysOf = (verb: Verb) =>
		verbs.flatMap(([smallkey, decision]) => (decision === verb ? [smallkey] : []));
	return { added: keysOf("added"), changed: keysOf("changed"), unchanged: keysOf("unchanged"), removed };
}

const maxLookups = 2;
const lookupTimeoutMs = 60_000;

/** Of a 404 of a service whose layers are on GitHub (`answerStatus` in api/app.ts). */
const elsewhere = /^status: /;

/** @throws {Error} if the service does not say what it has */
export async function compareWithService(
	registrations: ReadonlyMap<string, Registration>,
	url: string,
	removed: readonly string[],
	io: Pick<Io, "warn">,
) {
	let catalogue: Promise<ReadonlySet<string>> | null = null;
	const readCatalogue = async () => {
		io.warn(
			"The layers are on GitHub, and the service does not say which differ: registered ones are changed here",
		);
		return new Set(await readCatalogueKeys(url, "--dry-run"));
	};
	const verbOf = async (smallkey: string, registration: Registration): Promise<Verb> => {
		const address = `${url}/status/${encodeURIComponent(smallkey)}`;
		const answer = await askService(address, lookupTimeoutMs);
		if (answer.ok) {
			const { etag } = (tryJson(answer.text) ?? {}) as { etag?: unknown };
			if (etag === null) return "added";
			return etag === `"${await blobId(canonicalText(registration))}"` ? "unchanged" : "changed";
		}
		if (answer.status !== 404) throw new Error(`${address}: answers ${answer.status}`);
		if (!errorsOf(answer).some((error) => elsewhere.test(error))) return "added";
		catalogue ??= readCatalogue();
		return (await catalogue).has(smallkey) ? "changed" : "added";
	};
	const compare = async ([smallkey, registration]: [string, Registration]) =>
		[smallkey, await verbOf(smallkey, registration)] as const;
	return comparisonOf(await pMap(registrations, compare, { concurrency: maxLookups }), removed);
}

export function printComparison(
	comparison: ReturnType<typeof comparisonOf>,
	isJson: boolean,
	io: Pick<Io, "print">,
): void {
	if (isJson) return io.print(JSON.stringify(comparison));
	const { unchanged, ...changing } = comparison;
	const total = changing.added.length + changing.changed.length + unchanged.length;
	for (const [verb, keys] of Object.entries(changing))
		for (const key of keys) io.print(`${verb.padEnd("unchanged".length)}${key}`);
	const counts = Object.entries(changing).map(([verb, keys]) => `${keys.length} ${verb}`);
	io.print(
		`${counts.join(", ")}, ${unchanged.length} as they are: ${counted(total, "layer")}; nothing was sent`,
	);
}

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

/** `option`: for the error. @throws {Error} if the catalogue cannot be read completely */
async function readCatalogueKeys(url: string, option: string): Promise<string[]> {
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

export async function readOthers(url: string, kept: ReadonlySet<string>, owned: readonly string[]) {
	const keys = await readCatalogueKeys(url, "--remove-others");
	const matching = keys.filter(
		(key) => parseSmallkey(key) !== null && owned.some((glob) => matchesGlob(glob, key)),
	);
	return { keys: matching.filter((key) => !kept.has(key)).sort(), matching: matching.length };
}
