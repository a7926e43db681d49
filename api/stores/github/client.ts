import { request } from "@octokit/request";
import { StoreBusy } from "../../store.ts";
import type { AskAsApp, Authorize } from "./auth.ts";

/** The repository, and how to reach it. */
export interface Connection {
	owner: string;
	repo: string;
	/** `https://api.github.com`, or the address of a GitHub Enterprise Server's API. */
	apiUrl: string;
	fetch: typeof fetch;
	now: () => Date;
	/** Waits a number of milliseconds. */
	sleep: (ms: number) => Promise<void>;
	/** A number from 0 to 1, for jitter. */
	random: () => number;
	/** Longest that one request may take, in milliseconds. */
	patience: number;
	/** Told why GitHub was given up on, which a publisher is not. */
	report?: (error: Error) => void;
}

/** What GitHub answered. */
export interface Answer<T> {
	/** 2xx, or 404, 409 or 422: the rest is dealt with here. */
	status: number;
	data: T;
}

/** Asks GitHub: `call("GET", "/repos/{owner}/{repo}/commits", { sha: "main" })`. */
export type Call = <T>(method: string, route: string, parameters?: object) => Promise<Answer<T>>;

/** Makes a `Call` that gives up at a time, in milliseconds since 1970. */
export type Within = (until: number) => Call;

/** Nobody knows whether a branch or a pull request was written: to be found out by reading. */
export class LostAnswer extends StoreBusy {}

/** Why a request has to be sent again. */
interface Trouble {
	text: string;
	/** How long GitHub asks to be left alone, in milliseconds. */
	pause: number;
	/** What the operator has to know. */
	reason: string;
}

/** What a publisher is told who has waited in vain. */
const noAnswer = "GitHub does not answer; send the same again later";

/** How often one request is sent. */
const mostTries = 4;

/** What a publisher may wait before trying again, in seconds, when GitHub does not say. */
const ordinaryRetryAfter = 15;

/** A pause where GitHub names none: "wait for at least one minute" (GitHub, "Rate limits for the REST API"). */
const ordinaryPause = 60_000;

/** Whether a request writes a branch or opens a pull request; others read, or make objects that nothing points to. */
function isLasting(method: string, route: string): boolean {
	if (method === "PATCH") return route.includes("/git/refs/");
	return method === "PUT" || (method === "POST" && route.endsWith("/pulls"));
}

/**
 * Talks to GitHub. A server's error, a lost answer and a pause that GitHub asks for are waited for, and the request is
 * sent again; not so one that leaves something behind which has to be looked for first.
 * @returns calls that throw StoreBusy where GitHub does not answer in time, LostAnswer where it may have written, and
 * Error where it refuses the service. No text of theirs holds a token.
 */
export function connect(connection: Connection, authorize: Authorize): Within {
	const { now, sleep, random } = connection;
	let pausedUntil = 0;

	/** Waits for the end of a pause that GitHub has asked for, where there is time for that. */
	async function heedPause(until: number): Promise<void> {
		const pause = pausedUntil - now().getTime();
		if (pause <= 0) return;
		const fits = now().getTime() + pause < until;
		if (!fits) throw new StoreBusy("GitHub asks for a pause", Math.ceil(pause / 1000));
		await sleep(pause);
	}

	/** Sends a request until there is an answer to go on with. */
	async function insist<T>(
		until: number,
		method: string,
		route: string,
		attempt: Attempt<T>,
	): Promise<Answer<T>> {
		for (let tries = 1; ; tries += 1) {
			await heedPause(until);
			const left = until - now().getTime();
			if (left <= 0) throw new StoreBusy(noAnswer, ordinaryRetryAfter);
			const answer = await attempt(AbortSignal.timeout(Math.min(connection.patience, left)));
			const trouble = troubleOf(answer, method, route, now());
			if (!trouble) return answer;
			pausedUntil = Math.max(pausedUntil, now().getTime() + trouble.pause);
			const wait = trouble.pause || 100 * 2 ** tries * (0.5 + random());
			const isLost = trouble.pause === 0 && isLasting(method, route);
			if (isLost || tries === mostTries || now().getTime() + wait >= until) {
				connection.report?.(new Error(`GitHub: ${method} ${route}: ${trouble.reason}`));
				const Busy = isLost ? LostAnswer : StoreBusy;
				throw new Busy(trouble.text, Math.ceil(trouble.pause / 1000) || ordinaryRetryAfter);
			}
			await sleep(wait);
		}
	}

	function within(until: number): Call {
		const asApp: AskAsApp = (method, route, headers) =>
			insist(until, method, route, (signal) => send(connection, signal, method, route, {}, headers));

		return async <T>(method: string, route: string, parameters: object = {}) =>
			insist<T>(until, method, route, async (signal) => {
				const headers = { authorization: await authorize(asApp) };
				const answer = await send<T>(connection, signal, method, route, parameters, headers);
				// An App's token may end before its time; the next attempt gets a new one.
				return answer.status === 401 && authorize.forget()
					? lostAnswer<T>("401, the token has ended")
					: answer;
			});
	}

	return within;
}

interface RawAnswer<T> extends Answer<T> {
	headers: Record<string, string | number | undefined>;
	/** Why there is no answer, where there is none. */
	reason?: string;
}

/** Sends a request once. */
type Attempt<T> = (signal: AbortSignal) => Promise<RawAnswer<T>>;

/** Sends one request; status 0 where there is no whole answer. */
async function send<T>(
	connection: Connection,
	signal: AbortSignal,
	method: string,
	route: string,
	parameters: object,
	headers: Record<string, string>,
): Promise<RawAnswer<T>> {
	const { owner, repo, apiUrl: baseUrl, fetch } = connection;
	const repository = route.includes("{owner}") ? { owner, repo } : {};
	try {
		const answer = await request(`${method} ${route}`, {
			...parameters,
			...repository,
			baseUrl,
			headers: { ...headers, "user-agent": "fragment-publisher", "x-github-api-version": "2022-11-28" },
			request: { fetch, signal },
		});
		return wholeAnswer<T>(answer);
	} catch (error) {
		// octokit throws every answer from 400 up.
		const { response, message } = error as { response?: RawAnswer<unknown>; message?: string };
		return response ? wholeAnswer<T>(response) : lostAnswer<T>(message ?? "no answer");
	}
}

/** An answer that has arrived with its JSON; octokit passes one that was cut off on as an empty text. */
function wholeAnswer<T>({ status, data, headers }: RawAnswer<unknown>): RawAnswer<T> {
	const isWhole = typeof data === "object" && data !== null;
	return isWhole || !isUsable(status)
		? { status, data: data as T, headers }
		: lostAnswer<T>("an answer without JSON");
}

function lostAnswer<T>(reason: string): RawAnswer<T> {
	return { status: 0, data: null as T, headers: {}, reason };
}

/** Whether the store goes on with an answer of this status. */
function isUsable(status: number): boolean {
	return (status >= 200 && status < 300) || status === 404 || status === 409 || status === 422;
}

/**
 * Why an answer is not one that the store can go on with; null where it is.
 * @throws {Error} where GitHub refuses the service for good
 */
function troubleOf(answer: RawAnswer<unknown>, method: string, route: string, now: Date): Trouble | null {
	const { status, reason = "" } = answer;
	if (isUsable(status)) return null;
	if (status === 0) return { text: noAnswer, pause: 0, reason };
	const said = `${status}, ${messageOf(answer.data)}`;
	if (status >= 500)
		return { text: `GitHub answers ${status}; send the same again later`, pause: 0, reason: said };
	const pause = pauseOf(answer, now);
	if (pause !== null) return { text: "GitHub asks for a pause", pause, reason: said };
	throw new Error(`GitHub answers ${status} to ${method} ${route}: ${messageOf(answer.data)}`);
}

/** How long GitHub asks to be left alone, in milliseconds; null where the answer is not about its limits. */
function pauseOf({ status, headers, data }: RawAnswer<unknown>, now: Date): number | null {
	if (status !== 403 && status !== 429) return null;
	const seconds = Number(headers["retry-after"]);
	if (headers["retry-after"] !== undefined && seconds >= 0) return seconds * 1000;
	const reset = Number(headers["x-ratelimit-reset"]);
	if (String(headers["x-ratelimit-remaining"]) === "0" && reset > 0) {
		return Math.max(1000, reset * 1000 - now.getTime());
	}
	return status === 429 || /rate limit/i.test(messageOf(data)) ? ordinaryPause : null;
}

/** GitHub's own words in an error, at most 300 characters. */
export function messageOf(data: unknown): string {
	const message = (data as { message?: unknown } | null | undefined)?.message;
	return typeof message === "string" ? message.slice(0, 300) : "no reason given";
}
