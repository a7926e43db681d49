import { setTimeout } from "node:timers/promises";
import type { Fault } from "../finding.ts";
import { FetchFailure } from "./failure.ts";
import { createPool } from "./pool.ts";

/** Why a service gave no document. */
export interface NoAnswer {
	ok: false;
	kind: Fault;
	/** What happened, as the rest of a sentence about the service: `answers with status 404`. */
	text: string;
	/** Whether the answer was too large to be read. */
	tooLarge: boolean;
	/** The status of the answer; null where none came, or what came was not read. */
	status: number | null;
}

/** A service's answer: its bytes and its media type, or why there is none. */
export type Answer = { ok: true; bytes: Uint8Array; type: string } | NoAnswer;

/** Asks a service for a document. Whatever the service does, and when the signal aborts, there is an answer. */
export type Ask = (address: string, signal?: AbortSignal) => Promise<Answer>;

/** What asking needs from outside. */
export interface AskOptions {
	/** The guarded fetch. */
	fetch: typeof fetch;
	/** Waits so many milliseconds, less where the signal aborts; tests hand in one that does not wait. */
	sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
	/** Milliseconds since 1970: a host that does not answer is left alone for a minute. */
	now?: () => number;
}

/** One request's outcome, with what follows from it. */
type Outcome = Answer & {
	/** Worth asking again after so many milliseconds, up to so many requests in all. */
	again?: { pauseMs: number; attempts: number };
	/** What it says of the host: it cannot be connected to, or it may be in trouble. */
	host?: "dead" | "doubtful";
};

/** What is known of a host that failed last. */
interface Trouble {
	/** Requests in a row, each with its repetition, that came to nothing. */
	failures: number;
	/** Until when it is left alone. */
	until: number;
	answer: NoAnswer;
}

/** How often a busy service is asked, and how long is waited first; twice as long each further time. */
const maxBusyAttempts = 3;
const firstPauseMs = 1000;
/** How often a service is asked that broke off or was late: one slow path must not take a host's whole turn. */
const maxBrokenAttempts = 2;
/** So many failures in a row are the host's, and not those of single paths. */
const maxFailures = 3;
/** Longest pause that a service may ask for, in milliseconds. */
const maxPauseMs = 30_000;
/** How long a host that does not answer is left alone, in milliseconds. */
const silentHostPauseMs = 60_000;

/**
 * Makes the one way in which services are asked: at most 4 at a time and 1 per host. An answer of 429 or 5xx is asked
 * for twice more, one that breaks off or is late once more, each after a pause. A host that cannot be connected to, or
 * gave no answer three times in a row, is left alone for a minute.
 */
export function createAsk({ fetch, sleep = pause, now = Date.now }: AskOptions): Ask {
	const pool = createPool(4);
	const troubles = new Map<string, Trouble>();

	async function askWithRetries(address: string, signal?: AbortSignal): Promise<Outcome> {
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await pool.withSlot(() => once(fetch, address, signal));
			const { again } = outcome;
			if (!again || attempt >= again.attempts || signal?.aborted) return outcome;
			const waitMs = Math.max(again.pauseMs, firstPauseMs * 2 ** (attempt - 1));
			await sleep(Math.min(waitMs, maxPauseMs), signal);
		}
	}

	async function askHost(address: string, host: string, signal?: AbortSignal): Promise<Answer> {
		const known = troubles.get(host);
		if (known && known.until > now()) return known.answer;
		const { again: _again, host: state, ...answer } = await askWithRetries(address, signal);
		if (answer.ok || !state) {
			if (!signal?.aborted) troubles.delete(host);
			return answer;
		}
		const failures = (known?.failures ?? 0) + 1;
		const isSilent = state === "dead" || failures >= maxFailures;
		troubles.set(host, { failures, until: isSilent ? now() + silentHostPauseMs : 0, answer });
		return answer;
	}

	return async (address, signal) => {
		const { host } = new URL(address);
		return pool.oneByOne(host, () => askHost(address, host, signal));
	};
}

async function once(fetch: AskOptions["fetch"], address: string, signal?: AbortSignal): Promise<Outcome> {
	const headers = { Accept: "application/json, application/xml;q=0.9, */*;q=0.1" };
	let response: Response;
	try {
		response = await fetch(address, { headers, signal: signal ?? null });
	} catch (error) {
		return failed(error, signal);
	}
	try {
		const bytes = new Uint8Array(await response.arrayBuffer());
		if (!response.ok) return refusedStatus(response);
		return { ok: true, bytes, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		return failed(error, signal);
	}
}

/** Addresses at which there is nothing; every other refusal may pass. */
const missing = new Set([404, 410]);

function refusedStatus(response: Response): Outcome {
	const { status } = response;
	const kind: Fault = missing.has(status) ? "registration" : "server";
	const refusal: Outcome = {
		ok: false,
		kind,
		text: `answers with status ${status}`,
		tooLarge: false,
		status,
	};
	if (status !== 429 && status < 500) return refusal;
	const seconds = Number(response.headers.get("Retry-After") ?? 0);
	const waitMs = Number.isFinite(seconds) ? seconds * 1000 : 0;
	return { ...refusal, again: { pauseMs: waitMs, attempts: maxBusyAttempts } };
}

/** @throws the error itself where it is neither the request's nor the caller's abort: a fault of this program */
function failed(error: unknown, signal: AbortSignal | undefined): Outcome {
	if (signal?.aborted)
		return { ok: false, kind: "server", text: "was not asked to the end", tooLarge: false, status: null };
	if (!(error instanceof FetchFailure)) throw error;
	const kind: Fault = error.reason === "address" ? "registration" : "server";
	const { reason, message: text } = error;
	const answer: NoAnswer = { ok: false, kind, text, tooLarge: reason === "size", status: null };
	if (reason === "connect") return { ...answer, host: "dead" };
	if (reason !== "network" && reason !== "time") return answer;
	return { ...answer, host: "doubtful", again: { pauseMs: 0, attempts: maxBrokenAttempts } };
}

/** Waits; an abort ends the wait, and what follows sees the signal itself. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	await setTimeout(ms, undefined, signal ? { signal } : {}).catch(() => {});
}
