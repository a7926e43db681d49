import { Octokit } from "@octokit/rest";
import { type BusyCode, StoreBusy } from "../store.ts";

export type Github = Octokit & { repo: { owner: string; repo: string } };

export interface Connection {
	repository: string;
	apiUrl: string;
	fetch: typeof fetch;
	now: () => Date;
	sleep: (ms: number) => Promise<void>;
	requestTimeoutMs: number;
}

/** @param isEnded whether GitHub refused the last token @returns the header */
export type Authorize = (github: Github, isEnded: boolean) => Promise<string>;

export class GithubBusy extends StoreBusy {
	/**
	 * @param seconds up to doubled, so that publishers do not return together
	 * @param reason without a secret
	 */
	constructor(seconds: number, reason: string, code: BusyCode = "github") {
		super(code, Math.ceil(seconds + Math.random() * Math.min(seconds, 30)), reason);
	}
}

/** GitHub may have written. */
export class LostAnswer extends GithubBusy {}

/** Another writer was faster, or a replica lags behind ("no commit found", "not a valid tree oid"). */
const raceWords =
	/fast.?forward|reference cannot be updated|already exists|does not exist|no commit found|not a valid tree oid|but expected/i;

/** A 409 that is no race. */
const finalWords = /repository is empty|rule violation|protected|through a pull request|required|restricted/i;

export class Refused extends Error {
	constructor(
		readonly status: number,
		request: string,
		readonly words: string,
	) {
		super(`GitHub answers ${status} to ${request}: ${words}`);
	}

	get isRace(): boolean {
		return raceWords.test(this.words) || (this.status === 409 && !finalWords.test(this.words));
	}
}

/** Null for 404. */
export async function orNull<T>(answer: Promise<{ data: T }>): Promise<T | null> {
	try {
		return (await answer).data;
	} catch (error) {
		if (error instanceof Refused && error.status === 404 && !error.isRace) return null;
		throw error;
	}
}

const maxAttempts = 4;
const defaultRetryAfterSeconds = 15;

/** GitHub, "Rate limits for the REST API": "wait for at least one minute". */
const defaultPauseMs = 60_000;

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

type Answer = Awaited<ReturnType<Octokit["request"]>>;
type RequestOptions = Required<ReturnType<Octokit["request"]["endpoint"]["merge"]>>;

/**
 * @returns makes a client with a deadline in milliseconds since 1970. It throws GithubBusy, LostAnswer or
 * Refused, without a token
 */
export function connect(connection: Connection, authorize: Authorize): (deadlineMs: number) => Github {
	const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(connection.repository) ?? [];
	if (!owner || !repo) throw new Error("GITHUB_REPOSITORY: must be owner/name");
	const sender = new Sender(connection, authorize);
	return (deadlineMs) => {
		const octokit = new Octokit({
			baseUrl: connection.apiUrl.replace(/(?<!\/)\/+$/, ""),
			userAgent: "fragment-publisher",
			request: { fetch: connection.fetch },
			log: silentLog,
		});
		const github: Github = Object.assign(octokit, { repo: { owner, repo } });
		octokit.hook.wrap("request", (send, options) =>
			sender.send(async () => send(options), options, github, deadlineMs),
		);
		return github;
	};
}

/**
 * Repeats a request after a pause that GitHub asks for, a read also after a server error or a lost answer.
 * `@octokit/plugin-retry` (8.1.1) repeats every method, knows no deadline, and brings Bottleneck.
 */
class Sender {
	#pausedUntil = 0;

	constructor(
		readonly connection: Connection,
		readonly authorize: Authorize,
	) {}

	async send(
		send: () => Promise<Answer>,
		options: RequestOptions,
		github: Github,
		deadlineMs: number,
	): Promise<Answer> {
		const { now, sleep, requestTimeoutMs } = this.connection;
		const { method, headers } = options;
		const { pathname, search } = new URL(github.request.endpoint(options).url);
		const line = `${method} ${pathname}${search}`;
		// A request for an App's token.
		const isAuthorized = headers.authorization !== undefined;
		let isEnded = false;
		for (let attempts = 1; ; attempts += 1) {
			const leftMs = await this.#waitForPause(deadlineMs);
			// In place: octokit's other hooks pass on the same object.
			if (!isAuthorized) headers.authorization = await this.authorize(github, isEnded);
			headers["x-github-api-version"] = "2022-11-28";
			const signal = AbortSignal.timeout(Math.min(requestTimeoutMs, leftMs));
			options.request = { ...options.request, signal };
			// Octokit throws from status 400 up, and without an answer.
			const answer = await send().catch((error) => error.response ?? error);
			// A token may be revoked before it expires.
			if (answer.status === 401 && !isAuthorized && !isEnded) {
				isEnded = true;
				continue;
			}
			const trouble = findTrouble(answer, line, now());
			if (!trouble) return answer;
			const { pauseMs } = trouble;
			this.#pausedUntil = Math.max(this.#pausedUntil, now().getTime() + (pauseMs ?? 0));
			const waitMs = pauseMs || 100 * 2 ** attempts * (0.5 + Math.random());
			const isLost = pauseMs === null && method !== "GET";
			if (isLost || attempts === maxAttempts || now().getTime() + waitMs >= deadlineMs) {
				const Busy = isLost ? LostAnswer : GithubBusy;
				const seconds = pauseMs ? pauseMs / 1000 : defaultRetryAfterSeconds;
				throw new Busy(seconds, `GitHub: ${line}: ${trouble.reason}`);
			}
			await sleep(waitMs);
		}
	}

	/** @returns the milliseconds that are left */
	async #waitForPause(deadlineMs: number): Promise<number> {
		const { now, sleep } = this.connection;
		const pauseMs = Math.max(0, this.#pausedUntil - now().getTime());
		if (pauseMs > 0 && this.#pausedUntil < deadlineMs) await sleep(pauseMs);
		const leftMs = deadlineMs - Math.max(this.#pausedUntil, now().getTime());
		if (leftMs > 0) return leftMs;
		const reason = pauseMs > 0 ? "GitHub limits the requests of this service" : "GitHub does not answer";
		throw new GithubBusy(pauseMs / 1000 || defaultRetryAfterSeconds, reason);
	}
}

/**
 * @returns null if the answer is for the caller; `pauseMs`: what GitHub asks for, or null
 * @throws {Refused} if a retry does not help
 */
function findTrouble(answer: Answer | Error, request: string, now: Date) {
	if (answer instanceof Error) return { reason: answer.message, pauseMs: null };
	const { status, data } = answer;
	const message: unknown = data?.message;
	const words = typeof message === "string" ? message.slice(0, 300) : "no reason given";
	const reason = `${status}, ${words}`;
	if (status >= 500) return { reason, pauseMs: null };
	const pauseMs = status === 403 || status === 429 ? pauseOf(answer, words, now) : null;
	if (pauseMs !== null) return { reason, pauseMs };
	// Octokit returns truncated JSON and HTML as texts.
	if (status !== 204 && (typeof data !== "object" || data === null))
		return { reason: "an answer without JSON", pauseMs: null };
	if (status >= 400) throw new Refused(status, request, words);
	return null;
}

function pauseOf({ status, headers }: Answer, words: string, now: Date): number | null {
	const seconds = Number(headers["retry-after"] ?? Number.NaN);
	if (seconds >= 0) return seconds * 1000;
	const reset = Number(headers["x-ratelimit-reset"]) * 1000;
	if (String(headers["x-ratelimit-remaining"]) === "0" && reset > 0)
		return Math.max(1000, reset - now.getTime());
	return status === 429 || /rate limit|abuse detection/i.test(words) ? defaultPauseMs : null;
}
