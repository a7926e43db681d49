import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { type Cause, causeOf, causeText, type SickState } from "../../site/data/health.ts";
import { FetchFailure } from "./net/failure.ts";
import type { GuardedFetch, Take } from "./net/fetch.ts";

/** No usable answer, or an incomplete description. The message is the cause in English: `answers with status 404`. */
export class Trouble extends Error {
	readonly ok = false;
	override readonly name = "Trouble";
	readonly status: number | null;
	readonly isTemporary: boolean;

	constructor(
		readonly state: SickState,
		readonly what: Cause,
		{ status, isTemporary }: { status?: number | null; isTemporary?: boolean } = {},
	) {
		super(causeText("en", what));
		this.status = status ?? null;
		this.isTemporary = isTemporary ?? (state === "down" && !this.tooLarge && !isRefusal(this.status));
	}

	get tooLarge(): boolean {
		return this.what.code === "large";
	}
}

/** After 408 and 429 the service was slow or busy (RFC 9110 section 15.5.9, RFC 6585 section 4). */
function isRefusal(status: number | null) {
	if (status === null || status === 408 || status === 429) return false;
	return (status >= 400 && status < 500) || status === 501;
}

export function orTrouble<T>(task: Promise<T>): Promise<T | Trouble> {
	return task.catch((error) => {
		if (error instanceof Trouble) return error;
		throw error;
	});
}

export async function orNull<T>(task: Promise<T>): Promise<T | null> {
	const value = await orTrouble(task);
	return value instanceof Trouble ? null : value;
}

export type Answer = { ok: true; bytes: Uint8Array; type: string } | Trouble;

interface AskOptions {
	signal?: AbortSignal | undefined;
	/** Reads a large document while it arrives, at each attempt; the answer then has no bytes. */
	take?: Take | undefined;
}

/** Never rejects for a fault of the service or an abort: these are answers, too. */
export type Ask = (address: string, options?: AskOptions) => Promise<Answer>;

interface Outcome {
	answer: Answer;
	attempts?: number;
	pauseMs?: number;
	/** There was no answer. */
	isLost?: boolean;
}

/** Each pause for a busy service is twice the one before. */
const maxBusyAttempts = 3;
const firstPauseMs = 1000;
/** A time-out breaks a connection, too. */
const maxBrokenAttempts = 2;
const maxFailures = 3;
const maxPauseMs = 30_000;
const downPauseMs = 60_000;

/**
 * Sends at most 4 requests at a time, and 1 per host. Retries twice after status 429 or 5xx, once after a broken connection
 * or a time-out. Leaves out a host for a minute after three in a row without an answer.
 */
export function createAsk(options: { fetch: GuardedFetch; sleep?: typeof pause; now?: () => number }): Ask {
	const { fetch, sleep = pause, now = Date.now } = options;
	const withSlot = pLimit(4);
	const hosts = new Map<string, ReturnType<typeof pLimit>>();
	/** Keys are origins: a host that does not answer http may answer https. */
	const failed = new Map<string, { failures: number; untilMs: number; answer: Trouble }>();

	async function askWithRetries(address: string, options: AskOptions): Promise<Outcome> {
		const { signal } = options;
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await withSlot(() => askOnce(fetch, address, options));
			const { attempts = 1, pauseMs = 0 } = outcome;
			if (attempt >= attempts || signal?.aborted) return outcome;
			await sleep(Math.min(Math.max(pauseMs, firstPauseMs * 2 ** (attempt - 1)), maxPauseMs), signal);
		}
	}

	async function askHost(origin: string, address: string, options: AskOptions): Promise<Answer> {
		const failure = failed.get(origin);
		if (failure && now() < failure.untilMs) {
			const { what, isTemporary } = failure.answer;
			return new Trouble("down", causeOf("host-failed", what), { isTemporary });
		}
		const { answer, isLost } = await askWithRetries(address, options);
		if (answer.ok || !isLost) {
			if (!options.signal?.aborted) failed.delete(origin);
			return answer;
		}
		const failures = ((failure?.failures ?? 0) + 1) % maxFailures;
		failed.set(origin, { failures, untilMs: failures === 0 ? now() + downPauseMs : 0, answer });
		return answer;
	}

	return async (address, options = {}) => {
		const { host, origin } = new URL(address);
		const oneByOne = hosts.get(host) ?? pLimit(1);
		hosts.set(host, oneByOne);
		return oneByOne(() => askHost(origin, address, options));
	};
}

async function askOnce(fetch: GuardedFetch, address: string, { signal, take }: AskOptions): Promise<Outcome> {
	const accept = { Accept: "application/json, application/xml;q=0.9, */*;q=0.1" };
	try {
		const response = await fetch(address, { headers: accept, signal: signal ?? null, take });
		const bytes = new Uint8Array(await response.arrayBuffer());
		const { ok, status, headers } = response;
		if (ok) return { answer: { ok, bytes, type: headers.get("Content-Type") ?? "" } };
		// Any other refusal may be temporary.
		const state = status === 404 || status === 410 ? "wrong" : "down";
		const answer = new Trouble(state, causeOf("status", status), { status });
		if (status !== 429 && status < 500) return { answer };
		// A date, which the header may also have, is ignored.
		return { answer, attempts: maxBusyAttempts, pauseMs: (Number(headers.get("Retry-After")) || 0) * 1000 };
	} catch (error) {
		if (signal?.aborted) return { answer: new Trouble("down", causeOf("unfinished")) };
		if (!(error instanceof FetchFailure)) throw error;
		const { reason, what } = error;
		const state = reason === "address" ? "wrong" : "down";
		const answer = new Trouble(state, what);
		const isBroken = reason === "network" || reason === "time";
		return { answer, attempts: isBroken ? maxBrokenAttempts : 1, isLost: isBroken || reason === "connect" };
	}
}

/** An abort ends the wait early without an error; the caller checks the signal itself. */
async function pause(ms: number, signal?: AbortSignal) {
	await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
