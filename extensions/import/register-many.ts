import pMap from "p-map";
import { type Environment, type Io, WrongError } from "../../api/configuration.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { matchesGlob, parseSmallkey } from "../../registry/smallkey.ts";
import { counted, plain } from "../../registry/untrusted.ts";
import { errorsOf, fetchText } from "../../scripts/send/ask.ts";
import { findSecret } from "../../scripts/send/request.ts";
import {
	type BatchOptions,
	codeOf,
	printLists,
	printRemovals,
	removalsOf,
	sendBatch,
} from "../../scripts/send/send-batch.ts";
import { exitCodes } from "../../scripts/terminal/command-line.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { blobId } from "../../store/hashes.ts";

export type Registrations = ReadonlyMap<string, Registration>;

interface RegisterOptions extends BatchOptions {
	dryRun: boolean;
	yes: boolean;
	/** Globs of layers that may be removed. */
	owned?: readonly string[] | undefined;
	removeAtMost?: number | undefined;
}

/**
 * @param leftOut number of wrong files: with any, nothing is removed
 * @throws {WrongError} before anything is sent, if too many would be removed
 */
export async function registerMany(
	registrations: Registrations,
	options: RegisterOptions,
	leftOut: number,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { url, owned } = options;
	const isComplete = leftOut === 0;
	const surplus = owned && (await findSurplus(url, registrations, owned));
	if (surplus)
		io.warn(
			plain(
				`The layers of ${url} are those of its catalogue at ${surplus.commit ?? "an unknown commit"}; it may lack later changes`,
			),
		);
	if (options.dryRun)
		printLists({ ...(await compareWithService(url, registrations)), removed: surplus?.keys ?? [] }, io);
	if (surplus && isComplete) checkRemoval(surplus, options);
	if (options.dryRun) return exitCodes.done;
	const key = await findSecret(options.sender, environment, io);
	const result = await sendBatch(registrations, options, key, io);
	const code = codeOf(result);
	printLists(result, io);
	// Nothing is removed after an interruption.
	const mayRemove = code === exitCodes.done && isComplete && !io.interrupted().aborted;
	if (!surplus || !mayRemove) {
		if (surplus) io.warn("nothing is removed: not all files of the folder are registered");
		return code;
	}
	if (surplus.keys.length > 0 && !options.yes) await confirm(surplus.keys, url, io);
	const removals = await sendBatch(removalsOf(surplus.keys), options, key, io);
	printRemovals(removals, io);
	return codeOf(removals);
}

const maxFew = 10;
const minFew = 2;
const maxShare = 0.1;

/** An empty folder must not empty a catalogue. @throws {WrongError} */
function checkRemoval({ keys, matching }: Surplus, { owned, removeAtMost }: RegisterOptions): void {
	const max = removeAtMost ?? Math.min(maxFew, Math.max(minFew, Math.floor(matching * maxShare)));
	const { length } = keys;
	if (length <= max) return;
	throw new WrongError(
		`${length} of the ${counted(matching, "layer")} that match ${owned?.join(" ")} are not in the folder, and at most ${max} may be removed: --remove-at-most ${length} allows it. Nothing was sent`,
	);
}

async function confirm(keys: readonly string[], url: string, io: Io): Promise<void> {
	io.warn(`To be removed from ${url}, since the folder does not have them: ${keys.join(" ")}`);
	const answer = await io.ask(`Remove ${counted(keys.length, "layer")}? Type yes: `);
	if (answer?.toLowerCase() === "yes") return;
	throw new WrongError(`nothing is removed${answer === null ? ": without a terminal this needs --yes" : ""}`);
}

const maxReads = 4;
const readTimeoutMs = 60_000;

type Surplus = Awaited<ReturnType<typeof findSurplus>>;

/**
 * Matching smallkeys of the catalogue that the folder does not have. `matching`: how many match.
 * @throws {Error} if the catalogue cannot be read completely
 */
async function findSurplus(url: string, registrations: Registrations, owned: readonly string[]) {
	async function read<T>(path: string, parse: (text: string) => T | null): Promise<T> {
		const { ok, status, text } = await fetchText(`${url}/${path}`, readTimeoutMs);
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

/** The registration's git blob id. @throws {Error} if the service does not say it */
async function storedId(url: string, smallkey: string): Promise<string | null> {
	const address = `${url}/status/${encodeURIComponent(smallkey)}`;
	const answer = await fetchText(address, readTimeoutMs);
	if (answer.ok) return /[0-9a-f]{40}/.exec(answer.etag ?? "")?.[0] ?? null;
	const errors = errorsOf(answer);
	// With layers on GitHub, the service does not say it (`answerStatus` in api/app.ts).
	if (answer.status === 404 && !errors.some((error) => error.startsWith("status: "))) return null;
	throw new Error(plain(`${address}: answers ${[answer.status, ...errors].join(": ")}`));
}

export type Comparison = Record<"added" | "changed" | "unchanged", string[]>;

async function compareWithService(url: string, registrations: Registrations): Promise<Comparison> {
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
