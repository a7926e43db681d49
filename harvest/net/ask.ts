import { setTimeout } from "node:timers/promises";
import type { Fault } from "../finding.ts";
import { FetchFailure } from "./failure.ts";
import { createPool } from "./pool.ts";

/** A request without a usable answer, and why. */
export interface NoAnswer {
	ok: false;
	kind: Fault;
	/** What happened, as the rest of a sentence about the service: `answers with status 404`. */
	text: string;
	tooLarge: boolean;
	/** Status of the answer; null if there was none, or it was not read. */
	status: number | null;
}

export type Answer = { ok: true; bytes: Uint8Array; type: string } | NoAnswer;

/** Asks a service for a document. Whatever the service does, and when the signal aborts, there is an answer. */
export type Ask = (address: string, signal?: AbortSignal) => Promise<Answer>;

export interface AskOptions {
	fetch: typeof fetch;
	/** Waits so many milliseconds, less where the signal aborts; tests hand in one that does not wait. */
	sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** Milliseconds since 1970: a host that does not answer is left alone for a minute. */
	now?: () => number;
}

/** The outcome of one request, and whether to try again. */
type Outcome = Answer & {
	/** Try again after so many milliseconds, up to so many requests in all. */
	again?: { pauseMs: number; attempts: number };
	/** `dead`: no connection can be made. `doubtful`: the host may be failing. */
	host?: "dead" | "doubtful";
};

/** A host that did not answer. */
interface Silent {
	/** Requests in a row that failed, each with its retries. */
	failures: number;
	/** No request is made before that time. In milliseconds since 1970. */
	until: number;
	answer: NoAnswer;
}

/** Most requests to a busy service, and the first pause between them; each further pause is twice as long. */
const maxBusyAttempts = 3;
const firstPauseMs = 1000;
/** Most requests where the connection broke or timed out: one slow path must not take all the time of a host. */
const maxBrokenAttempts = 2;
/** After so many failures in a row the host is taken to be down, not only single paths. */
const maxFailures = 3;
/** Longest pause that a service may ask for, in milliseconds. */
const maxPauseMs = 30_000;
/** Pause after a host was found to be down, in milliseconds. */
const silentHostPauseMs = 60_000;

/**
 * Makes the one client for services: at most 4 requests at a time, and 1 per host. After a status of 429 or 5xx there are
 * two more attempts, after a broken connection or a time-out one, each after a pause. A host without a connection, or
 * without an answer three times in a row, is not asked for a minute.
 */
export function createAsk({ fetch, sleep = pause, now = Date.now }: AskOptions): Ask {
	const pool = createPool(4);
	const silent = new Map<string, Silent>();

	async function askWithRetries(address: string, signal?: AbortSignal): Promise<Outcome> {
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await pool.withSlot(() => once(fetch, address, signal));
			const { again } = outcome;
			if (!again || attempt >= again.attempts || signal?.aborted) return outcome;
			const waitMs = Math.max(again.pauseMs, firstPauseMs * 2 ** (attempt - 1));
			await sleep(Math.min(waitMs, maxPauseMs), signal);
		}
	}

	// By origin: a host that has closed http may answer https.
	async function askHost(address: string, origin: string, signal?: AbortSignal): Promise<Answer> {
		const known = silent.get(origin);
		if (known && known.until > now()) return known.answer;
		const { again: _again, host: state, ...answer } = await askWithRetries(address, signal);
		if (answer.ok || !state) {
			if (!signal?.aborted) silent.delete(origin);
			return answer;
		}
		const failures = (known?.failures ?? 0) + 1;
		const isSilent = state === "dead" || failures >= maxFailures;
		silent.set(origin, { failures, until: isSilent ? now() + silentHostPauseMs : 0, answer });
		return answer;
	}

	return async (address, signal) => {
		const { host, origin } = new URL(address);
		return pool.oneByOne(host, () => askHost(address, origin, signal));
	};
}

async function once(fetch: AskOptions["fetch"], address: string, signal?: AbortSignal): Promise<Outcome> {
	const headers = { Accept: "application/json, application/xml;q=0.9, */*;q=0.1" };
	try {
		const response = await fetch(address, { headers, signal: signal ?? null });
		const bytes = new Uint8Array(await response.arrayBuffer());
		if (!response.ok) return refusedStatus(response);
		return { ok: true, bytes, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		return failed(error, signal);
	}
}

/** Statuses of an address at which there is nothing; any other refusal may be temporary. */
const missing = new Set([404, 410]);

function noAnswer(kind: Fault, text: string, more: Partial<NoAnswer> = {}): NoAnswer {
	return { ok: false, kind, text, tooLarge: false, status: null, ...more };
}

function refusedStatus({ status, headers }: Response): Outcome {
	const kind = missing.has(status) ? "registration" : "server";
	const refusal = noAnswer(kind, `answers with status ${status}`, { status });
	if (status !== 429 && status < 500) return refusal;
	const seconds = Number(headers.get("Retry-After") ?? 0);
	const waitMs = Number.isFinite(seconds) ? seconds * 1000 : 0;
	return { ...refusal, again: { pauseMs: waitMs, attempts: maxBusyAttempts } };
}

/** @throws the error itself where it is neither the request's nor the caller's abort: a fault of this program */
function failed(error: unknown, signal: AbortSignal | undefined): Outcome {
	if (signal?.aborted) return noAnswer("server", "was not asked to the end");
	if (!(error instanceof FetchFailure)) throw error;
	const { reason, message } = error;
	const kind = reason === "address" ? "registration" : "server";
	const answer = noAnswer(kind, message, { tooLarge: reason === "size" });
	if (reason === "connect") return { ...answer, host: "dead" };
	if (reason !== "network" && reason !== "time") return answer;
	return { ...answer, host: "doubtful", again: { pauseMs: 0, attempts: maxBrokenAttempts } };
}

/** Waits; an abort ends the wait early, and the caller checks the signal itself. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	await setTimeout(ms, undefined, signal ? { signal } : {}).catch(() => {});
}
