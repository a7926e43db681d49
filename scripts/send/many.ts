import pMap from "p-map";
import { askService } from "../../api/service/ask.ts";
import type { Environment, Io } from "../../registry/environment.ts";
import { matchesGlob } from "../../registry/owners.ts";
import { counted, firstOf } from "../../registry/plain.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { parseSmallkey } from "../../registry/smallkey.ts";
import { WrongError } from "../../registry/wrong-error.ts";
import { manifestPath, parseChunk, parseManifest } from "../../site/data/entries.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { findSecret } from "./request.ts";
import { type BatchResult, type BatchTarget, codeOf, sendBatch } from "./send-batch.ts";

/** A service, who signs, and how the result is printed. */
export interface ManyOptions extends BatchTarget {
	/** Whether the result is one JSON object for programs. */
	json?: boolean | undefined;
}

/** Which layers of a service are removed after a batch. */
export interface RemoveOthers {
	/** Globs of the smallkeys that the sender owns. */
	owned: readonly string[];
	/** Whether to remove without a question. */
	yes: boolean;
}

/** Smallkeys that a line names; --json has all of them. */
const maxNamed = 100;

/**
 * Registers many layers at a service, and prints which of them have changed. If all were accepted, it then removes what
 * `others` asks for.
 * @returns exit code: 1 if the service refused a layer, 2 if not all were sent
 */
export async function registerMany(
	registrations: ReadonlyMap<string, Registration>,
	options: ManyOptions,
	others: RemoveOthers | null,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { sender, secret } = await findSecret(options.sender ?? null, environment, io);
	const withSecret = { ...environment, SENDER_SECRET: secret };
	const to = { ...options, sender };
	const encoder = new TextEncoder();
	const bodies = [...registrations].map(([key, one]) => [key, encoder.encode(canonicalText(one))] as const);
	const result = await sendBatch(new Map(bodies), to, withSecret, io);
	const code = codeOf(result);
	if (!options.json) printRegistered(result, options.url, io);
	if (!others || code !== exitCodes.done) {
		if (options.json) io.print(JSON.stringify(registered(result)));
		return code;
	}
	const keys = await othersOf(options.url, new Set(registrations.keys()), others.owned);
	if (keys.length > 0 && !others.yes) await confirm(keys, options.url, io);
	const removal = await sendBatch(new Map(keys.map((key) => [key, null])), to, withSecret, io);
	if (options.json) io.print(JSON.stringify({ ...registered(result), others: removed(removal) }));
	else printRemoved(removal, options.url, io);
	return codeOf(removal);
}

/** Removes many layers from a service, and prints how many. @returns exit code, as `registerMany` does */
export async function removeMany(
	smallkeys: readonly string[],
	options: ManyOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const result = await sendBatch(new Map(smallkeys.map((key) => [key, null])), options, environment, io);
	if (options.json) io.print(JSON.stringify(removed(result)));
	else printRemoved(result, options.url, io);
	return codeOf(result);
}

/** The result of a batch of registrations as it is printed. */
function registered({ changed, unchanged, waiting, refused, unsent }: BatchResult) {
	return sortedLists({ changed, unchanged, waiting, refused, unsent });
}

/** The result of a batch of removals as it is printed. */
function removed({ changed, waiting, refused, unsent }: BatchResult) {
	return sortedLists({ removed: changed, waiting, refused, unsent });
}

function sortedLists<T extends Record<string, string[]>>(lists: T): T {
	return Object.fromEntries(Object.entries(lists).map(([name, keys]) => [name, keys.sort()])) as T;
}

function printRegistered(result: BatchResult, url: string, io: Io): void {
	const lists = registered(result);
	const all = Object.values(lists).flat().length;
	const { changed, unchanged } = lists;
	io.print(
		`${changed.length} changed, ${unchanged.length} as they were${restOf(result)}, of ${counted(all, "layer")} for ${url}`,
	);
	printKeys("changed", changed, io);
	printKeys("waiting for a reviewer", lists.waiting, io);
}

function printRemoved(result: BatchResult, url: string, io: Io): void {
	const lists = removed(result);
	io.print(`${counted(lists.removed.length, "layer")} removed from ${url}${restOf(result)}`);
	printKeys("removed", lists.removed, io);
	printKeys("waiting for a reviewer", lists.waiting, io);
}

/** How many layers wait or were refused, for the end of a clause; nothing if there are none. */
function restOf({ waiting, refused }: BatchResult): string {
	const waits = waiting.length > 0 ? `, ${waiting.length} waiting for a reviewer` : "";
	return `${waits}${refused.length > 0 ? `, ${refused.length} refused` : ""}`;
}

function printKeys(label: string, keys: readonly string[], io: Io): void {
	if (keys.length > 0) io.print(`${label}: ${firstOf(keys, maxNamed)}`);
}

/** Shows what is to be removed, and asks. @throws {WrongError} unless the answer is yes */
async function confirm(keys: readonly string[], url: string, io: Io): Promise<void> {
	io.warn(`To be removed from ${url}, since the folder does not have them: ${keys.join(" ")}`);
	const answer = await io.ask(`Remove ${counted(keys.length, "layer")}? Type yes: `);
	if (answer === null) throw new WrongError("nothing is removed: without a terminal this needs --yes");
	if (answer.toLowerCase() !== "yes") throw new WrongError("nothing is removed");
}

/** Concurrent requests for the parts of a catalogue, and the limits of each. */
const maxConcurrent = 4;
const chunkTimeoutMs = 60_000;
const maxChunkBytes = 50_000_000;

/**
 * The smallkeys that match one of the globs and are not among `kept`, from the catalogue of a service, sorted.
 * @throws {Error} if the catalogue cannot be read completely
 */
async function othersOf(url: string, kept: ReadonlySet<string>, owned: readonly string[]): Promise<string[]> {
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
	const isOther = (key: string) =>
		parseSmallkey(key) !== null && !kept.has(key) && owned.some((glob) => matchesGlob(glob, key));
	return keys.filter(isOther).sort();
}
