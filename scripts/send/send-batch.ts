import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import type { Environment, Io } from "../../api/configuration.ts";
import { canonicalText, type Registration } from "../../registry/registration.ts";
import { counted, plain } from "../../registry/untrusted.ts";
import { exitCodes, messageOf } from "../terminal/command-line.ts";
import { createSend, findSecret, type PublisherRequest, type SenderKey } from "./request.ts";

export type BatchOptions = Pick<PublisherRequest, "url" | "reviewName"> & { sender?: string | undefined };

/** `waiting`: for a reviewer. */
type BatchResult = Record<"changed" | "unchanged" | "waiting" | "refused" | "unsent", string[]>;

export async function removeMany(
	smallkeys: Iterable<string>,
	options: BatchOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const key = await findSecret(options.sender, environment, io);
	const result = await sendBatch(removalsOf(smallkeys), options, key, io);
	printRemovals(result, io);
	return codeOf(result);
}

export function removalsOf(smallkeys: Iterable<string>): Map<string, null> {
	return new Map(Array.from(smallkeys, (smallkey) => [smallkey, null]));
}

const maxRequests = 8;

/** A service may be restarting. */
const defaultPausesMs: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000];

/** A service asks for no more after too many requests (`api/limits.ts`). */
const maxRetryMs = 300_000;
const longWaitMs = 30_000;

/**
 * Prints refusals, and why changes were not sent. Stops at Ctrl-C, or if a request is not served for half a
 * minute, or for as long as the service asks to wait.
 * @param changes by smallkey; null removes the layer
 */
export async function sendBatch(
	changes: ReadonlyMap<string, Registration | null>,
	{ url, reviewName }: BatchOptions,
	key: SenderKey,
	io: Io,
	pausesMs = defaultPausesMs,
): Promise<BatchResult> {
	const result: BatchResult = { changed: [], unchanged: [], waiting: [], refused: [], unsent: [] };
	const sendSigned = createSend(key, io);
	const interrupted = io.interrupted();
	const stop = new AbortController();
	const ended = AbortSignal.any([interrupted, stop.signal]);

	async function pause(ms: number): Promise<void> {
		if (ms > longWaitMs) io.warn(`the service asks to wait ${ms / 1_000} s`);
		await sleep(ms, undefined, { signal: ended }).catch(() => undefined);
	}

	async function send(smallkey: string, layer: Registration | null): Promise<keyof BatchResult> {
		const body = layer && new TextEncoder().encode(canonicalText(layer));
		for (const pauseMs of [...pausesMs, null]) {
			if (ended.aborted) break;
			const { code, receipt, lines, retryMs } = await sendSigned({ smallkey, body, url, reviewName }).catch(
				(error) => ({ code: exitCodes.unable, receipt: null, lines: [plain(messageOf(error))], retryMs: 0 }),
			);
			if (code === exitCodes.done) return outcomeOf(receipt);
			const isLast = code === exitCodes.wrong || pauseMs === null;
			if (isLast && !stop.signal.aborted) for (const line of lines) io.warn(line);
			if (code === exitCodes.wrong) return "refused";
			if (pauseMs === null) stop.abort();
			else await pause(Math.max(pauseMs, Math.min(retryMs, maxRetryMs)));
		}
		return "unsent";
	}

	const sendChange = async ([smallkey, layer]: [string, Registration | null]) =>
		result[await send(smallkey, layer)].push(smallkey);
	await pMap(changes, sendChange, { concurrency: maxRequests });
	for (const keys of Object.values(result)) keys.sort();
	if (result.unsent.length > 0) {
		const why = interrupted.aborted ? "interrupted" : "the service does not answer, or cannot serve now";
		const unsent = counted(result.unsent.length, "layer");
		io.warn(`${why}: ${unsent} not sent. Run it again: what is done already is skipped`);
	}
	return result;
}

/** Earlier versions of the service do not send `changed`. */
function outcomeOf(receipt: unknown): "changed" | "unchanged" | "waiting" {
	const { branch, changed } = (receipt ?? {}) as { branch?: unknown; changed?: unknown };
	if (branch !== undefined) return "waiting";
	return changed === false ? "unchanged" : "changed";
}

export function codeOf({ refused, unsent }: BatchResult): number {
	if (unsent.length > 0) return exitCodes.unable;
	return refused.length > 0 ? exitCodes.wrong : exitCodes.done;
}

/** `3 changed: a b c` for each list that is not empty; of what is unchanged, only the number. */
export function printLists(lists: Readonly<Record<string, readonly string[]>>, { print }: Io): void {
	for (const [name, keys] of Object.entries(lists))
		if (keys.length > 0) print(`${keys.length} ${name}${name === "unchanged" ? "" : `: ${keys.join(" ")}`}`);
}

export function printRemovals({ changed: removed, unchanged: _none, ...others }: BatchResult, io: Io): void {
	printLists({ removed, ...others }, io);
}
