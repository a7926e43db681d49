import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { causeOf } from "../../../registry/causes.ts";
import type { GuardedFetch, Take } from "./fetch.ts";
import { FetchFailure, Trouble } from "./trouble.ts";

/** A service's document, or why there is none. */
export type Answer = { ok: true; bytes: Uint8Array; type: string } | Trouble;

/**
 * Asks a service for a document. It never rejects for a fault of the service or an abort: these are answers, too.
 * @param take reads a large document while it arrives, each time that it is asked for; the answer then has no bytes
 */
export type Ask = (address: string, signal?: AbortSignal, take?: Take) => Promise<Answer>;

/** The outcome of one request, and whether to try again. */
interface Outcome {
	answer: Answer;
	/** The request is tried so many times in all; once by default. */
	attempts?: number;
	/** The pause that the service asks for before the next request. */
	pauseMs?: number;
	/** `dead`: no connection can be made. `doubtful`: the host may be failing. */
	host?: "dead" | "doubtful";
}

/** Requests to a busy service, and the first pause between them; each further pause is twice as long. */
const maxBusyAttempts = 3;
const firstPauseMs = 1000;
/** Requests after a broken connection or a time-out: a slow path must not use all the time for its host. */
const maxBrokenAttempts = 2;
/** Failures in a row after which the whole host counts as down. */
const maxFailures = 3;
/** Longest pause that a service may ask for, in milliseconds. */
const maxPauseMs = 30_000;
/** Time for which a host that is down is not asked, in milliseconds. */
const downPauseMs = 60_000;
/** Time for which an address at which a host hangs waits for those that were not asked, in milliseconds. */
const maxYieldMs = 1_800_000;

/** What is known of an origin whose last request failed. */
interface Failed {
	/** Failures in a row, since the last pause. */
	failures: number;
	/** The time before which it is not asked, in milliseconds since 1970. */
	untilMs: number;
	/** The last failure. */
	answer: Trouble;
	/** Address → its own failure. */
	hanging: Map<string, Trouble>;
	/** Address that was not asked → since when, in milliseconds since 1970. */
	skipped: Map<string, number>;
}

/**
 * Creates the client for all services: at most 4 requests at the same time, and 1 per host. After a status of 429 or 5xx it
 * tries twice more, after a broken connection or a time-out once more, each after a pause. It does not ask a host for a
 * minute if no connection can be made, or three requests in a row had no answer. After that minute the addresses that were
 * not asked come before those at which the host hangs: otherwise these could keep the others from being asked for ever.
 */
export function createAsk({
	fetch,
	sleep = pause,
	now = Date.now,
}: {
	fetch: GuardedFetch;
	/** Waits for the milliseconds, or until the signal aborts; tests replace it. */
	sleep?: typeof pause;
	/** The clock, in milliseconds since 1970. */
	now?: () => number;
}): Ask {
	const withSlot = pLimit(4);
	const hosts = new Map<string, ReturnType<typeof pLimit>>();
	/** By origin. */
	const failed = new Map<string, Failed>();

	async function askWithRetries(address: string, signal?: AbortSignal, take?: Take): Promise<Outcome> {
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await withSlot(() => askOnce(fetch, address, signal, take));
			const { attempts = 1, pauseMs = 0 } = outcome;
			if (attempt >= attempts || signal?.aborted) return outcome;
			await sleep(Math.min(Math.max(pauseMs, firstPauseMs * 2 ** (attempt - 1)), maxPauseMs), signal);
		}
	}

	// Failures are recorded by origin: a host that does not answer http may answer https.
	async function askHost(
		address: string,
		origin: string,
		signal?: AbortSignal,
		take?: Take,
	): Promise<Answer> {
		const known = failed.get(origin);
		const early = known && answerFrom(known, address, now());
		if (early) return early;
		known?.skipped.delete(address);
		const { answer, host: state } = await askWithRetries(address, signal, take);
		if (answer.ok || !state) {
			if (!signal?.aborted) failed.delete(origin);
			return answer;
		}
		const failures = (known?.failures ?? 0) + 1;
		const isDown = state === "dead" || failures >= maxFailures;
		const { hanging, skipped } = known ?? { hanging: new Map(), skipped: new Map() };
		if (state === "doubtful") hanging.set(address, answer);
		const untilMs = isDown ? now() + downPauseMs : 0;
		failed.set(origin, { failures: isDown ? 0 : failures, untilMs, answer, hanging, skipped });
		return answer;
	}

	return async (address, signal, take) => {
		const { host, origin } = new URL(address);
		const oneByOne = hosts.get(host) ?? pLimit(1);
		hosts.set(host, oneByOne);
		return oneByOne(() => askHost(address, origin, signal, take));
	};
}

/** The answer for an address that is not asked now; null if it is to be asked. */
function answerFrom({ untilMs, answer, hanging, skipped }: Failed, address: string, nowMs: number) {
	const own = hanging.get(address);
	if (nowMs < untilMs) {
		if (own) return own;
		if (!skipped.has(address)) skipped.set(address, nowMs);
		return notAsked(answer);
	}
	for (const [other, sinceMs] of skipped) if (nowMs - sinceMs > maxYieldMs) skipped.delete(other);
	return own && skipped.size > 0 ? own : null;
}

/** The answer for an address that was not asked, because its host did not answer for another one. */
function notAsked({ what, isTemporary }: Trouble): Trouble {
	return new Trouble("down", causeOf("host-failed", what), { isTemporary });
}

/** Statuses that mean that nothing is at the address; any other refusal may be temporary. */
const missing = new Set([404, 410]);

/** Sends one request. @throws {Error} for a fault of this program */
async function askOnce(
	fetch: GuardedFetch,
	address: string,
	signal?: AbortSignal,
	take?: Take,
): Promise<Outcome> {
	const accept = { Accept: "application/json, application/xml;q=0.9, */*;q=0.1" };
	try {
		const response = await fetch(address, { headers: accept, signal: signal ?? null, take });
		const bytes = new Uint8Array(await response.arrayBuffer());
		const { ok, status, headers } = response;
		if (ok) return { answer: { ok, bytes, type: headers.get("Content-Type") ?? "" } };
		const answer = new Trouble(missing.has(status) ? "wrong" : "down", causeOf("status", status), {
			status,
		});
		if (status !== 429 && status < 500) return { answer };
		// A date, which the header may also have, is ignored.
		return { answer, attempts: maxBusyAttempts, pauseMs: (Number(headers.get("Retry-After")) || 0) * 1000 };
	} catch (error) {
		if (signal?.aborted) return { answer: new Trouble("down", causeOf("unfinished")) };
		if (!(error instanceof FetchFailure)) throw error;
		const { reason, what } = error;
		const state = reason === "address" ? "wrong" : "down";
		const answer = new Trouble(state, what, { tooLarge: reason === "size" });
		if (reason === "connect") return { answer, host: "dead" };
		if (reason !== "network" && reason !== "time") return { answer };
		return { answer, attempts: maxBrokenAttempts, host: "doubtful" };
	}
}

/** Waits. An abort ends the wait early without an error; the caller checks the signal itself. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	await setTimeout(ms, undefined, signal ? { signal } : {}).catch(() => {});
}
