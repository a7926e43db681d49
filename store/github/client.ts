import { Octokit } from "@octokit/rest";
import { type BusyCode, StoreBusy } from "../store.ts";

/** GitHub's routes, typed: `github.rest.git.getTree({ ...github.repo, tree_sha })`. */
export interface Github extends Pick<Octokit, "rest" | "paginate" | "request"> {
	repo: { owner: string; repo: string };
}

export interface Connection {
	/** `owner/name`. */
	repository: string;
	/** `https://api.github.com`, or the address of a GitHub Enterprise Server's API. */
	apiUrl: string;
	fetch: typeof fetch;
	now: () => Date;
	sleep: (ms: number) => Promise<void>;
	requestTimeoutMs: number;
}

export interface Authorization {
	/** The `Authorization` header of the next request. */
	header(github: Github): Promise<string>;
	/** Drops a token that GitHub no longer accepts; false if there is no way to get another one. */
	forget(): boolean;
}

/** GitHub cannot be used now. No reason has a secret. */
export class GithubBusy extends StoreBusy {
	/** @param seconds at least; at most twice as many, since publishers who are refused together should not return together */
	constructor(seconds: number, reason: string, code: BusyCode = "github") {
		super(code, Math.ceil(seconds + Math.random() * Math.min(seconds, 30)), reason);
	}
}

/** It is not known whether GitHub has written; the caller has to read it to find out. */
export class LostAnswer extends GithubBusy {}

/**
 * Another writer was faster, or GitHub does not return yet what was written. "Reference cannot be updated": the branch was
 * moved several times in quick succession. "No commit found", "not a valid tree oid": a replica lags behind.
 */
const raceWords =
	/fast.?forward|reference cannot be updated|already exists|does not exist|no commit found|not a valid tree oid|but expected/i;

/** Any other 409 is a race: the repository is empty, or one of its rules does not allow the service to write. */
const finalWords = /repository is empty|rule violation|protected|through a pull request|required|restricted/i;

/** GitHub has refused a request. */
export class Refused extends Error {
	/** @param words GitHub's own */
	constructor(
		readonly status: number,
		request: string,
		readonly words: string,
	) {
		super(`GitHub answers ${status} to ${request}: ${words}`);
	}

	/** Whether the branch has moved on: the caller reads it again and decides anew. */
	get isRace(): boolean {
		return raceWords.test(this.words) || (this.status === 409 && !finalWords.test(this.words));
	}
}

/** The data of an answer, or null if it is 404. */
export async function orNull<T>(answer: Promise<{ data: T }>): Promise<T | null> {
	const result = await answer.catch((error: unknown) => {
		if (error instanceof Refused && error.status === 404 && !error.isRace) return null;
		throw error;
	});
	return result?.data ?? null;
}

const maxAttempts = 4;

/** `Retry-After` if GitHub names no time. */
const defaultRetryAfterSeconds = 15;

/** The pause if GitHub names no time: "wait for at least one minute" (GitHub, "Rate limits for the REST API"). */
const defaultPauseMs = 60_000;

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

type Answer = Awaited<ReturnType<Octokit["request"]>>;

/**
 * Connects to GitHub through octokit. A request is sent again after a pause that GitHub asks for, and one that only reads
 * after a server error or a lost answer. `@octokit/plugin-retry` (8.1.1) repeats every method, knows no deadline, and brings
 * Bottleneck.
 * @returns a function that makes routes with a deadline, in milliseconds since 1970. They throw GithubBusy, LostAnswer or
 * Refused. No message contains a token.
 */
export function connect(connection: Connection, authorization: Authorization): (until: number) => Github {
	const { now, sleep } = connection;
	const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(connection.repository) ?? [];
	if (!owner || !repo) throw new Error("GITHUB_REPOSITORY: must be owner/name");
	let pausedUntil = 0;

	/** Waits for the end of a pause that GitHub has asked for. @returns the time that is left before `until` */
	async function waitForPause(until: number): Promise<number> {
		const pauseMs = Math.max(0, pausedUntil - now().getTime());
		if (pauseMs > 0 && pausedUntil < until) await sleep(pauseMs);
		const leftMs = until - Math.max(pausedUntil, now().getTime());
		if (leftMs > 0) return leftMs;
		const reason = pauseMs > 0 ? "GitHub limits the requests of this service" : "GitHub does not answer";
		throw new GithubBusy(pauseMs / 1000 || defaultRetryAfterSeconds, reason);
	}

	return (until) => {
		const octokit = new Octokit({
			baseUrl: connection.apiUrl.replace(/(?<!\/)\/+$/, ""),
			userAgent: "fragment-publisher",
			request: { fetch: connection.fetch },
			log: silentLog,
		});
		const { rest, paginate, request } = octokit;
		const github = { rest, paginate, request, repo: { owner, repo } };
		octokit.hook.wrap("request", async (send, options) => {
			const { method, headers } = options;
			const { pathname, search } = new URL(request.endpoint(options).url);
			const line = `${method} ${pathname}${search}`;
			// A request for an App's token brings its own authorization.
			const isAuthorized = headers.authorization !== undefined;
			for (let attempts = 1; ; attempts += 1) {
				const leftMs = await waitForPause(until);
				// The options are changed in place, since octokit's other hooks pass on the same object.
				if (!isAuthorized) headers.authorization = await authorization.header(github);
				headers["x-github-api-version"] = "2022-11-28";
				const signal = AbortSignal.timeout(Math.min(connection.requestTimeoutMs, leftMs));
				options.request = { ...options.request, signal };
				// Octokit throws for each status from 400 up, and if there is no answer.
				const answer = await Promise.resolve(send(options)).catch((error) => error.response ?? error);
				// An App's token may be revoked before it expires; the next attempt gets a new one.
				const hasEnded = answer.status === 401 && !isAuthorized && authorization.forget();
				const trouble = hasEnded ? lost("401, the token has ended") : troubleOf(answer, line, now());
				if (!trouble) return answer;
				const { pauseMs } = trouble;
				pausedUntil = Math.max(pausedUntil, now().getTime() + (pauseMs ?? 0));
				const waitMs = pauseMs || 100 * 2 ** attempts * (0.5 + Math.random());
				const isLost = pauseMs === null && method !== "GET";
				if (isLost || attempts === maxAttempts || now().getTime() + waitMs >= until) {
					const Busy = isLost ? LostAnswer : GithubBusy;
					const seconds = pauseMs ? pauseMs / 1000 : defaultRetryAfterSeconds;
					throw new Busy(seconds, `GitHub: ${line}: ${trouble.reason}`);
				}
				await sleep(waitMs);
			}
		});
		return github;
	};
}

/** GitHub may have carried out a request, but there is no answer that can be used. */
function lost(reason: string) {
	return { reason, pauseMs: null };
}

/**
 * Why an answer is not returned to the caller, and the pause that GitHub asks for; null if it is returned.
 * @throws {Refused} if a retry does not help
 */
function troubleOf(answer: Answer | Error, request: string, now: Date) {
	if (answer instanceof Error) return lost(answer.message);
	const { status, data } = answer;
	const { message } = (data ?? {}) as { message?: unknown };
	const words = typeof message === "string" ? message.slice(0, 300) : "no reason given";
	const reason = `${status}, ${words}`;
	if (status >= 500) return lost(reason);
	const pauseMs = status === 403 || status === 429 ? pauseOf(answer, words, now) : null;
	if (pauseMs !== null) return { reason, pauseMs };
	// Octokit returns truncated JSON as an empty text, and a page in HTML as a text.
	if (status !== 204 && (typeof data !== "object" || data === null)) return lost("an answer without JSON");
	if (status >= 400) throw new Refused(status, request, words);
	return null;
}

/** The pause that GitHub asks for, in milliseconds; null if the answer is not about its rate limits. */
function pauseOf({ status, headers }: Answer, words: string, now: Date): number | null {
	const seconds = Number(headers["retry-after"] ?? Number.NaN);
	if (seconds >= 0) return seconds * 1000;
	const reset = Number(headers["x-ratelimit-reset"]) * 1000;
	if (String(headers["x-ratelimit-remaining"]) === "0" && reset > 0)
		return Math.max(1000, reset - now.getTime());
	return status === 429 || /rate limit|abuse detection/i.test(words) ? defaultPauseMs : null;
}
