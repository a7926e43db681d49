import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import { type Environment, type Io, WrongError } from "../../api/configuration.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { counted, firstOf, plain } from "../../registry/untrusted-text.ts";
import { exitCodes, messageOf } from "../terminal/command-line.ts";
import {
	checkRemoval,
	compareWithService,
	printComparison,
	type RemoveOthers,
	readOthers,
} from "./others.ts";
import { createSend, findSecret, type SenderKey, type SendResult } from "./request.ts";

interface ManyOptions {
	url: string;
	reviewName?: string | undefined;
	sender?: string | undefined;
}

const maxKeys = 100;

/**
 * If all were accepted, it removes what `others` selects.
 * @returns exit code: 1 if the service refused a layer, 2 if not all were sent
 * @throws {WrongError} before anything is sent, if more would be removed than `others` allows
 */
export async function registerMany(
	registrations: ReadonlyMap<string, Registration>,
	options: ManyOptions & { json: boolean; dryRun: boolean },
	others: RemoveOthers | null,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { url, json, dryRun } = options;
	const removal = others && (await readOthers(url, new Set(registrations.keys()), others.owned));
	if (dryRun) {
		const comparison = await compareWithService(url, registrations);
		printComparison(comparison, removal?.keys ?? [], { json, io });
	}
	if (removal && others?.isComplete) checkRemoval(removal, others);
	if (dryRun) return exitCodes.done;
	const key = await findSecret(options.sender ?? null, environment, io);
	// Nothing is removed after an interruption.
	const interrupted = io.interrupted();
	const sameIo = { ...io, interrupted: () => interrupted };
	const bodies = [...registrations].map(
		([smallkey, layer]) => [smallkey, new TextEncoder().encode(canonicalText(layer))] as const,
	);
	const result = await sendBatch(new Map(bodies), options, key, sameIo);
	const code = codeOf(result);
	if (!json) printRegistered(result, url, io);
	const mayRemove = code === exitCodes.done && others?.isComplete === true && !interrupted.aborted;
	if (!removal || !others || !mayRemove) {
		if (json) io.print(JSON.stringify(result));
		if (removal) io.warn("nothing is removed: not all files of the folder are registered");
		return code;
	}
	const { keys } = removal;
	if (keys.length > 0 && !others.yes) await confirm(keys, url, io);
	const removals = await sendBatch(new Map(keys.map((name) => [name, null])), options, key, sameIo);
	const { changed: removed, waiting, refused, unsent } = removals;
	if (json) io.print(JSON.stringify({ ...result, others: { removed, waiting, refused, unsent } }));
	else printRemoved(removals, url, io);
	return codeOf(removals);
}

export async function removeMany(
	smallkeys: readonly string[],
	options: ManyOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const key = await findSecret(options.sender ?? null, environment, io);
	const result = await sendBatch(new Map(smallkeys.map((name) => [name, null])), options, key, io);
	printRemoved(result, options.url, io);
	return codeOf(result);
}

function printRegistered(result: BatchResult, url: string, io: Io): void {
	const { changed, unchanged, waiting } = result;
	const all = counted(Object.values(result).flat().length, "layer");
	io.print(
		`${changed.length} changed, ${unchanged.length} as they were${restOf(result)}, of ${all} for ${url}`,
	);
	printKeys({ changed, "waiting for a reviewer": waiting }, io);
}

function printRemoved(result: BatchResult, url: string, io: Io): void {
	const { changed: removed, waiting } = result;
	io.print(`${counted(removed.length, "layer")} removed from ${url}${restOf(result)}`);
	printKeys({ removed, "waiting for a reviewer": waiting }, io);
}

function restOf({ waiting, refused }: BatchResult): string {
	const waits = waiting.length > 0 ? `, ${waiting.length} waiting for a reviewer` : "";
	return `${waits}${refused.length > 0 ? `, ${refused.length} refused` : ""}`;
}

function printKeys(lists: Readonly<Record<string, readonly string[]>>, io: Io): void {
	for (const [label, keys] of Object.entries(lists))
		if (keys.length > 0) io.print(`${label}: ${firstOf(keys, maxKeys)}`);
}

async function confirm(keys: readonly string[], url: string, io: Io): Promise<void> {
	io.warn(`To be removed from ${url}, since the folder does not have them: ${keys.join(" ")}`);
	const answer = await io.ask(`Remove ${counted(keys.length, "layer")}? Type yes: `);
	if (answer === null) throw new WrongError("nothing is removed: without a terminal this needs --yes");
	if (answer.toLowerCase() !== "yes") throw new WrongError("nothing is removed");
}

const maxRequests = 8;

/** Before an unserved request is sent again: a service may be restarting. */
const defaultPausesMs: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

/** `waiting`: on a branch for a reviewer, now or before. */
type BatchResult = Record<"changed" | "unchanged" | "waiting" | "refused" | "unsent", string[]>;

/**
 * Prints refusals, and why changes were not sent. At Ctrl-C, or if a request is not served for
 * half a minute, it sends no others.
 */
export async function sendBatch(
	changes: ReadonlyMap<string, Uint8Array | null>,
	{ url, reviewName }: Pick<ManyOptions, "url" | "reviewName">,
	key: SenderKey,
	io: Io,
	pausesMs = defaultPausesMs,
): Promise<BatchResult> {
	const result: BatchResult = { changed: [], unchanged: [], waiting: [], refused: [], unsent: [] };
	const sendSigned = createSend(key, io);
	const interrupted = io.interrupted();
	const stop = new AbortController();
	const ended = AbortSignal.any([interrupted, stop.signal]);

	async function sendOnce(smallkey: string, body: Uint8Array | null): Promise<SendResult> {
		const method = body ? "PUT" : "DELETE";
		const change = { method, smallkey, body: body ?? new Uint8Array(0), url, reviewName };
		try {
			return await sendSigned(change);
		} catch (error) {
			const lines = [plain(messageOf(error as Error))];
			return { code: exitCodes.unable, receipt: null, lines };
		}
	}

	async function send([smallkey, body]: [string, Uint8Array | null]): Promise<void> {
		for (const pauseMs of [...pausesMs, null]) {
			if (ended.aborted) return void result.unsent.push(smallkey);
			const { code, receipt, lines } = await sendOnce(smallkey, body);
			if (code === exitCodes.done) return void result[listOf(receipt)].push(smallkey);
			const isLast = code === exitCodes.wrong || pauseMs === null;
			if (isLast && !stop.signal.aborted) for (const line of lines) io.warn(line);
			if (code === exitCodes.wrong) return void result.refused.push(smallkey);
			if (pauseMs !== null) await sleep(pauseMs, undefined, { signal: ended }).catch(() => undefined);
		}
		stop.abort();
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
