import { setTimeout } from "node:timers/promises";
import { FetchFailure } from "./failure.ts";
import type { Fault } from "./finding.ts";
import { createTurns } from "./turns.ts";

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
	/** Worth asking again after so many milliseconds. */
	again?: number;
	/** The host did not answer at all. */
	silent?: boolean;
};

/** How often a busy service is asked, and how long is waited first; twice as long each further time. */
const attempts = 3;
const firstPause = 1000;
/** Longest pause that a service may ask for, in milliseconds. */
const longestPause = 30_000;
/** How long a host that did not answer is left alone, in milliseconds. */
const restOfSilentHost = 60_000;

/**
 * Makes the one way in which services are asked: at most 4 at a time and 1 per host. An answer of 429 or 5xx is asked
 * for twice more, after a pause; a host that does not answer at all is left alone for a minute.
 */
export function createAsk({ fetch, sleep = pause, now = Date.now }: AskOptions): Ask {
	const turns = createTurns(4);
	const silent = new Map<string, { until: number; answer: NoAnswer }>();

	async function insistently(address: string, signal?: AbortSignal): Promise<Outcome> {
		for (let attempt = 1; ; attempt += 1) {
			const outcome = await turns.withSlot(() => once(fetch, address, signal));
			if (outcome.again === undefined || attempt === attempts || signal?.aborted) return outcome;
			const wait = Math.max(outcome.again, firstPause * 2 ** (attempt - 1));
			await sleep(Math.min(wait, longestPause), signal);
		}
	}

	async function inTurn(address: string, host: string, signal?: AbortSignal): Promise<Answer> {
		const known = silent.get(host);
		if (known && known.until > now()) return known.answer;
		silent.delete(host);
		const { again: _again, silent: isSilent, ...answer } = await insistently(address, signal);
		if (isSilent && !answer.ok) silent.set(host, { until: now() + restOfSilentHost, answer });
		return answer;
	}

	return async (address, signal) => {
		const { host } = new URL(address);
		return turns.oneByOne(host, () => inTurn(address, host, signal));
	};
}

async function once(fetch: AskOptions["fetch"], address: string, signal?: AbortSignal): Promise<Outcome> {
	const headers = { Accept: "application/json, application/xml;q=0.9, */*;q=0.1" };
	let response: Response;
	try {
		response = await fetch(address, { headers, signal: signal ?? null });
	} catch (error) {
		return { ...failed(error, signal), silent: isSilence(error) };
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
	return { ...refusal, again: Number.isFinite(seconds) ? seconds * 1000 : 0 };
}

/** @throws the error itself where it is neither the request's nor the caller's abort: a fault of this program */
function failed(error: unknown, signal: AbortSignal | undefined): NoAnswer {
	if (signal?.aborted)
		return { ok: false, kind: "server", text: "was not asked to the end", tooLarge: false, status: null };
	if (!(error instanceof FetchFailure)) throw error;
	const kind: Fault = error.reason === "address" ? "registration" : "server";
	return { ok: false, kind, text: error.message, tooLarge: error.reason === "size", status: null };
}

function isSilence(error: unknown): boolean {
	return error instanceof FetchFailure && (error.reason === "network" || error.reason === "time");
}

/** Waits; an abort ends the wait, and what follows sees the signal itself. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
	await setTimeout(ms, undefined, signal ? { signal } : {}).catch(() => {});
}
