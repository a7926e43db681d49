import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import { type Environment, type Io, WrongError } from "../../api/configuration.ts";
import { askService, errorsOf } from "../../api/service/net/ask.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { matchesGlob } from "../../registry/sender.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { counted, firstOf, plain, tryJson } from "../../registry/untrusted-text.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { blobId } from "../../store/hashes.ts";
import { exitCodes, messageOf } from "../terminal/command-line.ts";
import { createSend, findSecret, type PublisherRequest, type SenderKey } from "./request.ts";

export type Registrations = ReadonlyMap<string, Registration>;

type Place = Pick<PublisherRequest, "url" | "reviewName">;
type ManyOptions = Place & { sender?: string | undefined };

interface RegisterOptions extends ManyOptions {
	json: boolean;
	dryRun: boolean;
	yes: boolean;
	/** The globs of layers that are removed, if the folder does not have them and all were accepted. */
	owned?: readonly string[] | undefined;
	removeAtMost?: number | undefined;
}

/**
 * @param isComplete whether all files of the folder are right: else nothing is removed
 * @returns exit code: 1 if the service refused a layer, 2 if not all were sent
 * @throws {WrongError} before anything is sent, if more would be removed than is allowed
 */
export async function registerMany(
	registrations: Registrations,
	options: RegisterOptions,
	isComplete: boolean,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { url, json, owned } = options;
	const removal = owned && (await readOthers(url, registrations, owned));
	if (options.dryRun)
		printComparison(await compareWithService(url, registrations), removal?.keys ?? [], json, io);
	if (removal && isComplete) checkRemoval(removal, options);
	if (options.dryRun) return exitCodes.done;
	const key = await findSecret(options.sender, environment, io);
	const result = await sendBatch(registrations, options, key, io);
	const code = codeOf(result);
	if (!json) printResult(result, "changed", url, io);
	// Nothing is removed after an interruption.
	const mayRemove = code === exitCodes.done && isComplete && !io.interrupted().aborted;
	if (!removal || !mayRemove) {
		if (json) io.print(JSON.stringify(result));
		if (removal) io.warn("nothing is removed: not all files of the folder are registered");
		return code;
	}
	if (removal.keys.length > 0 && !options.yes) await confirm(removal.keys, url, io);
	const removals = await sendBatch(removed(removal.keys), options, key, io);
	const { changed, unchanged: _none, ...others } = removals;
	if (json) io.print(JSON.stringify({ ...result, others: { removed: changed, ...others } }));
	else printResult(removals, "removed", url, io);
	return codeOf(removals);
}

export async function removeMany(
	smallkeys: Iterable<string>,
	options: ManyOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const key = await findSecret(options.sender, environment, io);
	const result = await sendBatch(removed(smallkeys), options, key, io);
	printResult(result, "removed", options.url, io);
	return codeOf(result);
}

function removed(smallkeys: Iterable<string>): Map<string, null> {
	return new Map(Array.from(smallkeys, (smallkey) => [smallkey, null]));
}

const maxKeys = 100;

function printResult(result: BatchResult, word: "changed" | "removed", url: string, io: Io): void {
	const { changed, unchanged, waiting, refused } = result;
	const label = "waiting for a reviewer";
	const waits = waiting.length > 0 ? `, ${waiting.length} ${label}` : "";
	const rest = `${waits}${refused.length > 0 ? `, ${refused.length} refused` : ""}`;
	const all = counted(Object.values(result).flat().length, "layer");
	if (word === "removed") io.print(`${counted(changed.length, "layer")} removed from ${url}${rest}`);
	else io.print(`${changed.length} changed, ${unchanged.length} as they were${rest}, of ${all} for ${url}`);
	for (const [name, keys] of Object.entries({ [word]: changed, [label]: waiting }))
		if (keys.length > 0) io.print(`${name}: ${firstOf(keys, maxKeys)}`);
}

async function confirm(keys: readonly string[], url: string, io: Io): Promise<void> {
	io.warn(`To be removed from ${url}, since the folder does not have them: ${keys.join(" ")}`);
	const answer = await io.ask(`Remove ${counted(keys.length, "layer")}? Type yes: `);
	if (answer?.toLowerCase() === "yes") return;
	throw new WrongError(`nothing is removed${answer === null ? ": without a terminal this needs --yes" : ""}`);
}

const maxRequests = 8;

/** Before an unserved request is sent again: a service may be restarting. */
const defaultPausesMs: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

/** `waiting`: on a branch for a reviewer, now or before. */
type BatchResult = Record<"changed" | "unchanged" | "waiting" | "refused" | "unsent", string[]>;

/**
 * Prints refusals, and why changes were not sent. At Ctrl-C, or if a request is not served for
 * half a minute, it sends no others. Null: the layer is removed.
 */
export async function sendBatch(
	changes: ReadonlyMap<string, Registration | null>,
	{ url, reviewName }: Place,
	key: SenderKey,
	io: Io,
	pausesMs = defaultPausesMs,
): Promise<BatchResult> {
	const result: BatchResult = { changed: [], unchanged: [], waiting: [], refused: [], unsent: [] };
	const sendSigned = createSend(key, io);
	const interrupted = io.interrupted();
	const stop = new AbortController();
	const ended = AbortSignal.any([interrupted, stop.signal]);

	async function send([smallkey, layer]: [string, Registration | null]): Promise<void> {
		const body = layer && new TextEncoder().encode(canonicalText(layer));
		for (const pauseMs of [...pausesMs, null]) {
			if (ended.aborted) break;
			const { code, receipt, lines } = await sendSigned({ smallkey, body, url, reviewName }).catch(
				(error) => ({ code: exitCodes.unable, receipt: null, lines: [plain(messageOf(error))] }),
			);
			if (code === exitCodes.done) return void result[listOf(receipt)].push(smallkey);
			const isLast = code === exitCodes.wrong || pauseMs === null;
			if (isLast && !stop.signal.aborted) for (const line of lines) io.warn(line);
			if (code === exitCodes.wrong) return void result.refused.push(smallkey);
			if (pauseMs === null) stop.abort();
			else await sleep(pauseMs, undefined, { signal: ended }).catch(() => undefined);
		}
		result.unsent.push(smallkey);
	}

	await pMap(changes, send, { concurrency: maxRequests });
	for (const keys of Object.values(result)) keys.sort();
	if (result.unsent.length > 0) {
		const why = interrupted.aborted ? "interrupted" : "the service does not answer, or cannot serve now";
		const unsent = counted(result.unsent.length, "layer");
		io.warn(`${why}: ${unsent} not sent. Run it again: what is done already is skipped`);
	}
	return result;
}

/** A service of an earlier version does not say whether the layer has changed. */
function listOf(receipt: unknown): "changed" | "unchanged" | "waiting" {
	const { branch, changed } = (receipt ?? {}) as { branch?: unknown; changed?: unknown };
	if (branch !== undefined) return "waiting";
	return changed === false ? "unchanged" : "changed";
}

export function codeOf({ refused, unsent }: BatchResult): number {
	if (unsent.length > 0) return exitCodes.unable;
	return refused.length > 0 ? exitCodes.wrong : exitCodes.done;
}

const [minFew, maxFew, maxShare] = [2, 10, 0.1];

/** A folder that a script has left empty must not empty a catalogue. @throws {WrongError} */
function checkRemoval(
	{ keys: { length }, matching }: Awaited<ReturnType<typeof readOthers>>,
	{ owned, removeAtMost }: RegisterOptions,
): void {
	const max = removeAtMost ?? Math.min(maxFew, Math.max(minFew, Math.floor(matching * maxShare)));
	if (length <= max) return;
	throw new WrongError(
		`${length} of the ${counted(matching, "layer")} that match ${owned?.join(" ")} are not in the folder, and at most ${max} may be removed: --remove-at-most ${length} allows it. Nothing was sent`,
	);
}

const maxReads = 4;
const readTimeoutMs = 60_000;
const maxChunkBytes = 50_000_000;

/** @throws {Error} if the catalogue cannot be read completely */
async function readOthers(url: string, kept: Registrations, owned: readonly string[]) {
	async function read<T>(path: string, parse: (text: string) => T | null): Promise<T> {
		const { ok, status, text } = await askService(`${url}/${path}`, readTimeoutMs, {}, maxChunkBytes);
		const value = ok ? parse(text) : null;
		if (value) return value;
		throw new Error(
			`${url}/${path}: ${ok ? "is of another version" : `answers ${status}`}; --remove-others needs the service's catalogue, which SITE=on builds after a start`,
		);
	}
	const { chunks } = await read(manifestPath, parseManifest);
	const paths = chunks.filter((path) => path !== null);
	const parts = await pMap(paths, (path) => read(path, parseChunk), { concurrency: maxReads });
	const isOwned = (key: string) =>
		parseSmallkey(key) !== null && owned.some((glob) => matchesGlob(glob, key));
	const matching = parts.flatMap(({ entries }) => entries.map(({ smallkey }) => smallkey)).filter(isOwned);
	return { keys: matching.filter((key) => !kept.has(key)).sort(), matching: matching.length };
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

/** Prints what would be added, changed and removed. */
export function printComparison(
	comparison: Comparison,
	others: readonly string[],
	json: boolean,
	{ print }: Io,
): void {
	const lists = { ...comparison, removed: others };
	if (json) return print(JSON.stringify(lists));
	for (const [name, keys] of Object.entries(lists))
		print(`${keys.length} ${name}${name === "unchanged" || keys.length === 0 ? "" : `: ${keys.join(" ")}`}`);
	print("nothing was sent");
}
