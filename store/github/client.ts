import { Octokit } from "@octokit/rest";
import { StoreBusy } from "../store.ts";
import type { Authorize } from "./auth.ts";
import { messageOf } from "./refusal.ts";
import type { Github, Rest } from "./routes.ts";

export interface Connection {
	owner: string;
	repo: string;
	/** `https://api.github.com`, or the address of a GitHub Enterprise Server's API. */
	apiUrl: string;
	fetch: typeof fetch;
	now: () => Date;
	sleep: (ms: number) => Promise<void>;
	/** A number from 0 to 1, for jitter. */
	random: () => number;
	requestTimeoutMs: number;
}

/** GitHub cannot be used now; `reason` is for the operator, and holds no secret. */
export class GithubBusy extends StoreBusy {
	readonly reason: string;

	constructor(message: string, retryAfterSeconds: number, reason: string) {
		super(message, retryAfterSeconds);
		this.reason = reason;
	}
}

/** It is not known whether a branch or a pull request was written: to be found out by reading. */
export class LostAnswer extends GithubBusy {}

/** The answer to a publisher who has waited in vain. */
const noAnswer = "GitHub does not answer; send the same again later";

const maxAttempts = 4;

/** What a publisher may wait before trying again when GitHub does not say. */
const ordinaryRetryAfterSeconds = 15;

/** A pause where GitHub names none: "wait for at least one minute" (GitHub, "Rate limits for the REST API"). */
const ordinaryPauseMs = 60_000;

const maxSpreadSeconds = 30;

/** At least `seconds`, and up to twice as many: publishers who are sent away together do not come back together. */
export function spread(seconds: number, random: () => number): number {
	return Math.ceil(seconds + random() * Math.min(seconds, maxSpreadSeconds));
}

/** POST requests that leave nothing behind, or the same when they are sent twice. */
const repeatablePost = /\/git\/(?:trees|commits|blobs|refs)$|\/access_tokens$|\/check-runs$|\/labels$/;

/** Whether a request may not be sent again before it was looked up whether it has been dealt with. */
function isLasting(method: string, url: string): boolean {
	if (method === "PATCH") return url.includes("/git/refs/");
	return method === "PUT" || (method === "POST" && !repeatablePost.test(url));
}

type Answer = Awaited<ReturnType<Rest["request"]>>;

/** What octokit throws: every answer from 400 up, and what happened where there is none. */
interface Failure {
	message?: string;
	response?: Answer;
}

interface Trouble {
	text: string;
	/** How long GitHub asks to be left alone; 0 where it does not. */
	pauseMs: number;
	/** What the operator has to know. */
	reason: string;
	/** Whether GitHub may have dealt with the request all the same. */
	isUnknown: boolean;
}

type Send = (options: SentOptions) => Promise<Answer>;

interface SentOptions {
	method: string;
	url: string;
	headers: Record<string, unknown>;
	request?: object;
}

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Talks to GitHub by octokit. A server's error, a lost answer and a pause that GitHub asks for are waited for, and the
 * request is sent again; not so one that leaves something behind which has to be looked for first.
 * @returns makes routes that give up at a time, in milliseconds, which is asked for at each request. They throw GithubBusy
 * where GitHub does not answer in time, LostAnswer where it may have written, octokit's error for 404, 409 and 422, and
 * Error where it refuses the service. No text of theirs holds a token.
 */
export function connect(connection: Connection, authorize: Authorize): (deadline: () => number) => Github {
	const { owner, repo, now, sleep, random } = connection;
	let pausedUntil = 0;

	/** Waits for the end of a pause that GitHub has asked for, where there is time for that. */
	async function waitForPause(until: number): Promise<void> {
		const pauseMs = pausedUntil - now().getTime();
		if (pauseMs <= 0) return;
		if (now().getTime() + pauseMs >= until) {
			const seconds = spread(pauseMs / 1000, random);
			throw new GithubBusy("GitHub asks for a pause", seconds, "GitHub: the pause it asked for is not over");
		}
		await sleep(pauseMs);
	}

	/** Sends a request until there is an answer to go on with. */
	async function sendUntilAnswered(until: number, send: Send, options: SentOptions, github: Github) {
		const { method, url } = options;
		// A request for an App's token brings its own authorization.
		const isAuthorized = options.headers.authorization !== undefined;
		for (let attempts = 1; ; attempts += 1) {
			await waitForPause(until);
			const leftMs = until - now().getTime();
			if (leftMs <= 0)
				throw new GithubBusy(noAnswer, spread(ordinaryRetryAfterSeconds, random), "no time left");
			// The options are changed in place: other hooks of octokit's hand on what they were given.
			if (!isAuthorized) options.headers.authorization = await authorize(github);
			options.headers["x-github-api-version"] = "2022-11-28";
			const signal = AbortSignal.timeout(Math.min(connection.requestTimeoutMs, leftMs));
			options.request = { ...options.request, signal };
			let failure: Failure | undefined;
			const answer = await send(options).catch((error: Failure) => {
				failure = error;
				return error.response;
			});
			const forgetToken = () => !isAuthorized && authorize.forget();
			const trouble = answer ? troubleOf(answer, options, now(), forgetToken) : lost(failure?.message);
			if (trouble === null) {
				if (failure) throw failure;
				return answer as Answer;
			}
			pausedUntil = Math.max(pausedUntil, now().getTime() + trouble.pauseMs);
			const waitMs = trouble.pauseMs || 100 * 2 ** attempts * (0.5 + random());
			const isLost = trouble.isUnknown && isLasting(method, url);
			if (isLost || attempts === maxAttempts || now().getTime() + waitMs >= until) {
				const Busy = isLost ? LostAnswer : GithubBusy;
				const seconds = spread(trouble.pauseMs / 1000 || ordinaryRetryAfterSeconds, random);
				throw new Busy(trouble.text, seconds, `GitHub: ${method} ${url}: ${trouble.reason}`);
			}
			await sleep(waitMs);
		}
	}

	return (deadline) => {
		const octokit = new Octokit({
			baseUrl: connection.apiUrl,
			userAgent: "fragment-publisher",
			request: { fetch: connection.fetch },
			log: silentLog,
		});
		const github = { rest: octokit.rest, paginate: octokit.paginate, repo: { owner, repo } };
		octokit.hook.wrap("request", (send, options) =>
			sendUntilAnswered(deadline(), send as Send, options as SentOptions, github),
		);
		return github;
	};
}

/** GitHub may have dealt with the request, and did not say so. */
function lost(reason = "no answer", text = noAnswer): Trouble {
	return { text, pauseMs: 0, reason, isUnknown: true };
}

/**
 * Why an answer is not handed on; null where it is.
 * @throws {Error} where GitHub refuses the service for good
 */
function troubleOf(answer: Answer, sent: SentOptions, now: Date, forgetToken: () => boolean): Trouble | null {
	const { status, data } = answer;
	if ((status >= 200 && status < 300) || status === 404 || status === 409 || status === 422) {
		// Octokit passes JSON that was cut off on as an empty text.
		const isWhole = status === 204 || (typeof data === "object" && data !== null);
		return isWhole ? null : lost("an answer without JSON");
	}
	const reason = `${status}, ${messageOf(data)}`;
	if (status >= 500) return lost(reason, `GitHub answers ${status}; send the same again later`);
	const pauseMs = pauseOf(answer, now);
	if (pauseMs !== null) return { text: "GitHub asks for a pause", pauseMs, reason, isUnknown: false };
	// An App's token may end before its time; the next attempt gets a new one.
	if (status === 401 && forgetToken()) return { ...lost("401, the token has ended"), isUnknown: false };
	throw new Error(`GitHub answers ${status} to ${sent.method} ${sent.url}: ${messageOf(data)}`);
}

/** How long GitHub asks to be left alone, in milliseconds; null where the answer is not about its limits. */
function pauseOf({ status, headers, data }: Answer, now: Date): number | null {
	if (status !== 403 && status !== 429) return null;
	const seconds = Number(headers["retry-after"]);
	if (headers["retry-after"] !== undefined && seconds >= 0) return seconds * 1000;
	const reset = Number(headers["x-ratelimit-reset"]);
	if (String(headers["x-ratelimit-remaining"]) === "0" && reset > 0) {
		return Math.max(1000, reset * 1000 - now.getTime());
	}
	return status === 429 || /rate limit/i.test(messageOf(data)) ? ordinaryPauseMs : null;
}
