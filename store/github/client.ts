import { Octokit } from "@octokit/rest";
import { type Text, textOf } from "../../registry/texts.ts";
import { StoreBusy } from "../store.ts";
import { type Github, messageOf } from "./answer.ts";
import type { Authorization } from "./auth.ts";

export interface Connection {
	/** `owner/name`. */
	repository: string;
	/** `https://api.github.com`, or the address of a GitHub Enterprise Server's API. */
	apiUrl: string;
	fetch: typeof fetch;
	now: () => Date;
	sleep: (ms: number) => Promise<void>;
	/** A number from 0 to 1, for jitter. */
	random: () => number;
	requestTimeoutMs: number;
}

/** GitHub cannot be used now; `reason` is for the operator, and contains no secret. */
export class GithubBusy extends StoreBusy {
	constructor(
		text: Text,
		retryAfterSeconds: number,
		readonly reason: string,
	) {
		super(text, retryAfterSeconds);
	}
}

/** It is not known whether a branch or a pull request was written; the caller has to read it to find out. */
export class LostAnswer extends GithubBusy {}

/** The error for a publisher if GitHub gives no answer. */
const noAnswer = /* @__PURE__ */ textOf("github-silent");

/** The error for a publisher if GitHub asks for a pause. */
const pauseText = /* @__PURE__ */ textOf("github-pause");

const maxAttempts = 4;

/** `Retry-After` if GitHub names no time. */
const defaultRetryAfterSeconds = 15;

/** The pause if GitHub names no time: "wait for at least one minute" (GitHub, "Rate limits for the REST API"). */
const defaultPauseMs = 60_000;

const maxSpreadSeconds = 30;

/** `seconds`, or up to twice as many (at most 30 more): publishers who are refused together do not return together. */
export function spread(seconds: number, random: () => number): number {
	return Math.ceil(seconds + random() * Math.min(seconds, maxSpreadSeconds));
}

/** POST requests that may be repeated: sent twice, they have the same result as sent once. */
const repeatablePost = /\/git\/(?:trees|commits|blobs|refs)$|\/access_tokens$|\/check-runs$|\/labels$/;

/** Whether a request must not be sent again before the caller has read whether GitHub carried it out. */
function isUnrepeatable(method: string, url: string): boolean {
	if (method === "PATCH") return url.includes("/git/refs/");
	return method === "PUT" || (method === "POST" && !repeatablePost.test(url));
}

type Answer = Awaited<ReturnType<Octokit["request"]>>;

/** The error that octokit throws: for every answer from 400 up, with its `response`, and if there is no answer. */
interface Failure {
	message?: string;
	response?: Answer;
}

/** Why a request has to be sent again. */
interface Trouble {
	/** For the publisher. */
	text: Text;
	/** The pause that GitHub asks for; 0 if it asks for none. */
	pauseMs: number;
	/** For the operator. */
	reason: string;
	/** Whether GitHub may have carried out the request nevertheless. */
	isUnknown: boolean;
}

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Connects to GitHub through octokit. After a server error, a lost answer or a pause that GitHub asks for, a request is
 * sent again; but not if GitHub may have carried it out and a second one would write something twice.
 * @returns a function that makes routes with a deadline, in milliseconds since 1970. They throw GithubBusy if GitHub
 * does not answer in time, LostAnswer if GitHub may have written, octokit's error for 404, 409 and 422, and Error if
 * GitHub refuses the service. No message contains a token.
 */
export function connect(connection: Connection, authorization: Authorization): (until: number) => Github {
	const { apiUrl, now, sleep, random } = connection;
	const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(connection.repository) ?? [];
	if (!owner || !repo) throw new Error("GITHUB_REPOSITORY: must be owner/name");
	let pausedUntil = 0;

	/** Waits for the end of a pause that GitHub has asked for. @throws {GithubBusy} if it ends after `until` */
	async function waitForPause(until: number): Promise<void> {
		const pauseMs = pausedUntil - now().getTime();
		if (pauseMs <= 0) return;
		if (pausedUntil < until) return sleep(pauseMs);
		const seconds = spread(pauseMs / 1000, random);
		throw new GithubBusy(pauseText, seconds, "GitHub: the pause it asked for is not over");
	}

	return (until) => {
		const octokit = new Octokit({
			baseUrl: apiUrl.replace(/(?<!\/)\/+$/, ""),
			userAgent: "fragment-publisher",
			request: { fetch: connection.fetch },
			log: silentLog,
		});
		const github = { rest: octokit.rest, paginate: octokit.paginate, repo: { owner, repo } };
		// Sends a request until GitHub gives an answer that the caller can use.
		octokit.hook.wrap("request", async (send, options) => {
			const { method, url, headers } = options;
			// A request for an App's token brings its own authorization.
			const isAuthorized = headers.authorization !== undefined;
			for (let attempts = 1; ; attempts += 1) {
				await waitForPause(until);
				const leftMs = until - now().getTime();
				if (leftMs <= 0)
					throw new GithubBusy(noAnswer, spread(defaultRetryAfterSeconds, random), "no time left");
				// The options are changed in place, since octokit's other hooks pass on the same object.
				if (!isAuthorized) headers.authorization = await authorization.header(github);
				headers["x-github-api-version"] = "2022-11-28";
				const signal = AbortSignal.timeout(Math.min(connection.requestTimeoutMs, leftMs));
				options.request = { ...options.request, signal };
				const sent: Answer | Failure = await Promise.resolve(send(options)).catch((error: Failure) => error);
				const answer = "data" in sent ? sent : sent.response;
				const forgetToken = () => !isAuthorized && authorization.forget();
				const trouble = answer
					? troubleOf(answer, `${method} ${url}`, now(), forgetToken)
					: lost((sent as Failure).message);
				if (!trouble && sent === answer) return answer;
				if (!trouble) throw sent;
				pausedUntil = Math.max(pausedUntil, now().getTime() + trouble.pauseMs);
				const waitMs = trouble.pauseMs || 100 * 2 ** attempts * (0.5 + random());
				const isLost = trouble.isUnknown && isUnrepeatable(method, url);
				if (isLost || attempts === maxAttempts || now().getTime() + waitMs >= until) {
					const Busy = isLost ? LostAnswer : GithubBusy;
					const seconds = spread(trouble.pauseMs / 1000 || defaultRetryAfterSeconds, random);
					throw new Busy(trouble.text, seconds, `GitHub: ${method} ${url}: ${trouble.reason}`);
				}
				await sleep(waitMs);
			}
		});
		return github;
	};
}

/** GitHub may have carried out the request, but its answer was lost. */
function lost(reason = "no answer", text = noAnswer): Trouble {
	return { text, pauseMs: 0, reason, isUnknown: true };
}

/**
 * Why an answer is not returned to the caller; null if it is.
 * @throws {Error} if GitHub refuses the service for good
 */
function troubleOf(answer: Answer, request: string, now: Date, forgetToken: () => boolean): Trouble | null {
	const { status, data } = answer;
	if ((status >= 200 && status < 300) || status === 404 || status === 409 || status === 422) {
		// Octokit returns truncated JSON as an empty text.
		const isWhole = status === 204 || (typeof data === "object" && data !== null);
		return isWhole ? null : lost("an answer without JSON");
	}
	const reason = `${status}, ${messageOf(data)}`;
	if (status >= 500) return lost(reason, textOf("github-fails", status));
	const pauseMs = pauseOf(answer, now);
	if (pauseMs !== null) return { text: pauseText, pauseMs, reason, isUnknown: false };
	// An App's token may be revoked before it expires; the next attempt gets a new one.
	if (status === 401 && forgetToken()) return { ...lost("401, the token has ended"), isUnknown: false };
	throw new Error(`GitHub answers ${status} to ${request}: ${messageOf(data)}`);
}

/** The pause that GitHub asks for, in milliseconds; null if the answer is not about its rate limits. */
function pauseOf({ status, headers, data }: Answer, now: Date): number | null {
	if (status !== 403 && status !== 429) return null;
	const seconds = Number(headers["retry-after"]);
	if (headers["retry-after"] !== undefined && seconds >= 0) return seconds * 1000;
	const reset = Number(headers["x-ratelimit-reset"]);
	if (String(headers["x-ratelimit-remaining"]) === "0" && reset > 0) {
		return Math.max(1000, reset * 1000 - now.getTime());
	}
	return status === 429 || /rate limit|abuse detection/i.test(messageOf(data)) ? defaultPauseMs : null;
}
