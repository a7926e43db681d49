import { setTimeout as sleep } from "node:timers/promises";
import pMap from "p-map";
import type { Environment, Io } from "../../registry/environment.ts";
import { counted, plain } from "../../registry/plain.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { createSend, type Sent } from "./exchange.ts";
import { findSecret } from "./request.ts";

/** Signed requests that wait for their answers at the same time. */
const maxRequests = 8;

/** Times of a batch in milliseconds, which tests shorten. */
const defaultTimes = {
	/** The pauses before a request is sent again that was not served: a service may be restarted meanwhile. */
	pausesMs: [1_000, 2_000, 4_000, 8_000, 16_000] as readonly number[],
	/** How often the command prints its progress. */
	noteMs: 5_000,
};

/** The service of a batch, and who signs. */
export interface BatchTarget {
	/** Its address with its base path, without a `/` at the end. */
	url: string;
	/** By default the first one of the senders file. */
	sender?: string | undefined;
	/** The name under which the changes wait for a reviewer together. */
	reviewName?: string | undefined;
}

/** Smallkey → the bytes of its registration, or null for a removal. */
export type BatchChanges = ReadonlyMap<string, Uint8Array | null>;

/** What became of the layers of a batch: their smallkeys, in the order of the answers. */
export interface BatchResult {
	/** Registered, changed or removed. */
	changed: string[];
	/** Stored already as they were sent. */
	unchanged: string[];
	/** On a branch for a reviewer, now or before. */
	waiting: string[];
	refused: string[];
	unsent: string[];
}

/**
 * Sends each change to a running service by a signed request. It prints the refusals and its progress, and at its end why
 * changes were not sent. If the service does not serve a request for half a minute, or at Ctrl-C, it sends no others.
 */
export async function sendBatch(
	changes: BatchChanges,
	{ url, sender: id, reviewName }: BatchTarget,
	environment: Environment,
	io: Io,
	times: Partial<typeof defaultTimes> = {},
): Promise<BatchResult> {
	const { pausesMs, noteMs } = { ...defaultTimes, ...times };
	const { sender, secret } = await findSecret(id ?? null, environment, io);
	const sendSigned = createSend({ ...environment, SENDER_SECRET: secret }, io);
	const result: BatchResult = { changed: [], unchanged: [], waiting: [], refused: [], unsent: [] };
	const interrupted = io.interrupted();
	const gone = new AbortController();
	const ended = AbortSignal.any([interrupted, gone.signal]);

	async function sendOnce(smallkey: string, body: Uint8Array | null): Promise<Sent> {
		const method = body ? "PUT" : "DELETE";
		const change = { method, smallkey, body: body ?? new Uint8Array(0), url, sender, reviewName };
		try {
			return await sendSigned(change);
		} catch (error) {
			const { message, cause } = error as Error;
			const reason = cause instanceof Error ? `: ${cause.message}` : "";
			const lines = [plain(`${message}${reason}`)];
			return { code: exitCodes.unable, receipt: null, lines, serviceTime: null };
		}
	}

	async function send([smallkey, body]: [string, Uint8Array | null]): Promise<void> {
		for (const pauseMs of [...pausesMs, null]) {
			if (ended.aborted) return void result.unsent.push(smallkey);
			const { code, receipt, lines } = await sendOnce(smallkey, body);
			if (code === exitCodes.done) return void result[listOf(receipt)].push(smallkey);
			const isLast = code === exitCodes.wrong || pauseMs === null;
			if (isLast && !gone.signal.aborted) for (const line of lines) io.warn(line);
			if (code === exitCodes.wrong) return void result.refused.push(smallkey);
			if (pauseMs !== null) await sleep(pauseMs, undefined, { signal: ended }).catch(() => undefined);
		}
		gone.abort();
		result.unsent.push(smallkey);
	}

	const note = setInterval(() => io.warn(progressText(result, changes.size)), noteMs);
	await pMap(changes, send, { concurrency: maxRequests }).finally(() => clearInterval(note));
	if (result.unsent.length > 0) {
		const why = interrupted.aborted ? "interrupted" : "the service does not answer, or cannot serve now";
		io.warn(`${why}: ${counted(result.unsent.length, "layer")} not sent. ${again}`);
	}
	return result;
}

const again = "Run it again: what is done already is skipped";

/** Where the layer of a receipt belongs. A service of an earlier version does not say whether it has changed. */
function listOf(receipt: unknown): "changed" | "unchanged" | "waiting" {
	const { branch, changed } = (receipt ?? {}) as { branch?: unknown; changed?: unknown };
	if (branch !== undefined) return "waiting";
	return changed === false ? "unchanged" : "changed";
}

/** The exit code of a batch: 1 if the service refused a layer, 2 if not all were sent. */
export function codeOf({ refused, unsent }: BatchResult): number {
	if (unsent.length > 0) return exitCodes.unable;
	return refused.length > 0 ? exitCodes.wrong : exitCodes.done;
}

function progressText({ unsent, refused, ...done }: BatchResult, all: number): string {
	const sent = refused.length + Object.values(done).flat().length;
	return `${sent} of ${all} sent${refused.length > 0 ? `, ${refused.length} refused` : ""}`;
}
