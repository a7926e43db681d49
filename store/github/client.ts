import { Octokit } from "@octokit/rest";
import githubAppJwt from "universal-github-app-jwt";
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

/** @param isEnded whether GitHub no longer accepts the last token @returns the header of a request */
export type Authorization = (github: Github, isEnded: boolean) => Promise<string>;

export class GithubBusy extends StoreBusy {
	/** @param seconds up to twice as many, so that publishers do not return together @param reason without a secret */
	constructor(seconds: number, reason: string, code: BusyCode = "github") {
		super(code, Math.ceil(seconds + Math.random() * Math.min(seconds, 30)), reason);
	}
}

/** It is not known whether GitHub has written. */
export class LostAnswer extends GithubBusy {}

/** Another writer was faster, or a replica of GitHub lags behind ("no commit found", "not a valid tree oid"). */
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

	/** The caller reads the branch again. */
	get isRace(): boolean {
		return raceWords.test(this.words) || (this.status === 409 && !finalWords.test(this.words));
	}
}

export async function orNull<T>(answer: Promise<{ data: T }>): Promise<T | null> {
	const result = await answer.catch((error: unknown) => {
		if (error instanceof Refused && error.status === 404 && !error.isRace) return null;
		throw error;
	});
	return result?.data ?? null;
}

const maxAttempts = 4;
const defaultRetryAfterSeconds = 15;

/** GitHub, "Rate limits for the REST API": "wait for at least one minute". */
const defaultPauseMs = 60_000;

const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

type Answer = Awaited<ReturnType<Octokit["request"]>>;

/**
 * A request is sent again after a pause that GitHub asks for; one that only reads, after a server error or a lost answer,
 * too. `@octokit/plugin-retry` (8.1.1) repeats every method, knows no deadline, and brings Bottleneck.
 * @returns makes routes with a deadline, in milliseconds since 1970. They throw GithubBusy, LostAnswer or Refused, without a
 * token.
 */
export function connect(connection: Connection, authorization: Authorization): (until: number) => Github {
	const { now, sleep } = connection;
	const [, owner, repo] = /^([A-Za-z0-9_.-]+)\/([A-Za-z0-9_.-]+)$/.exec(connection.repository) ?? [];
	if (!owner || !repo) throw new Error("GITHUB_REPOSITORY: must be owner/name");
	let pausedUntil = 0;

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
		const github: Github = Object.assign(octokit, { repo: { owner, repo } });
		octokit.hook.wrap("request", async (send, options) => {
			const { method, headers } = options;
			const { pathname, search } = new URL(octokit.request.endpoint(options).url);
			const line = `${method} ${pathname}${search}`;
			// A request for an App's token.
			const isAuthorized = headers.authorization !== undefined;
			let isEnded = false;
			for (let attempts = 1; ; attempts += 1) {
				const leftMs = await waitForPause(until);
				// In place, since octokit's other hooks pass on the same object.
				if (!isAuthorized) headers.authorization = await authorization(github, isEnded);
				headers["x-github-api-version"] = "2022-11-28";
				const signal = AbortSignal.timeout(Math.min(connection.requestTimeoutMs, leftMs));
				options.request = { ...options.request, signal };
				// Octokit throws for each status from 400 up, and if there is no answer.
				const answer = await Promise.resolve(send(options)).catch((error) => error.response ?? error);
				// A token may be revoked before it expires.
				if (answer.status === 401 && !isAuthorized && !isEnded) {
					isEnded = true;
					continue;
				}
				const trouble = troubleOf(answer, line, now());
				if (!trouble) return answer;
				const { pauseMs } = trouble;
				pausedUntil = Math.max(pausedUntil, now().getTime() + (pauseMs ?? 0));
				const waitMs = pauseMs || 100 * 2 ** attempts * (0.5 + Math.random());
				const isLost = pauseMs === null && method !== "GET";
				if (isLost || attempts === maxAttempts || now().getTime() + waitMs >= until) {
					const seconds = pauseMs ? pauseMs / 1000 : defaultRetryAfterSeconds;
					const Busy = isLost ? LostAnswer : GithubBusy;
					throw new Busy(seconds, `GitHub: ${line}: ${trouble.reason}`);
				}
				await sleep(waitMs);
			}
		});
		return github;
	};
}

function lost(reason: string) {
	return { reason, pauseMs: null };
}

/** @returns null if the answer is for the caller @throws {Refused} if a retry does not help */
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

function pauseOf({ status, headers }: Answer, words: string, now: Date): number | null {
	const seconds = Number(headers["retry-after"] ?? Number.NaN);
	if (seconds >= 0) return seconds * 1000;
	const reset = Number(headers["x-ratelimit-reset"]) * 1000;
	if (String(headers["x-ratelimit-remaining"]) === "0" && reset > 0)
		return Math.max(1000, reset - now.getTime());
	return status === 429 || /rate limit|abuse detection/i.test(words) ? defaultPauseMs : null;
}

/** A token, or a GitHub App with its private key in PEM: PKCS#1 or PKCS#8. */
export type Credentials = { token: string } | { appId: string; privateKey: string };

const renewBeforeMs = 120_000;

/**
 * `@octokit/auth-app` (8.3.1) signs by the same package; it would add 22 kB to the worker, where it takes no PKCS#1 key.
 * @param permissions of the installation's token; by default all that the App was granted
 * @throws {Error} if the private key is not PEM; no error contains any part of the key
 */
export function authorizeWith(
	credentials: Credentials,
	now: () => Date,
	permissions?: Readonly<Record<string, "read" | "write">>,
): Authorization {
	if ("token" in credentials) return async () => `Bearer ${credentials.token}`;
	const app = { id: credentials.appId, privateKey: pkcs8Of(credentials.privateKey) };
	let token: { text: string; until: number } | null = null;
	return async ({ rest, repo }, isEnded) => {
		if (token && !isEnded && token.until > now().getTime()) return `Bearer ${token.text}`;
		const jwt = await githubAppJwt({ ...app, now: Math.floor(now().getTime() / 1000) });
		const headers = { authorization: `Bearer ${jwt.token}` };
		const installation = await orNull(rest.apps.getRepoInstallation({ ...repo, headers }));
		if (!installation) throw new Error("GitHub: the App is not installed on the repository");
		const limits = { installation_id: installation.id, repositories: [repo.repo], permissions };
		const { data } = await rest.apps.createInstallationAccessToken({ ...limits, headers });
		token = { text: data.token, until: Date.parse(data.expires_at) - renewBeforeMs };
		return `Bearer ${token.text}`;
	};
}

const pemPattern = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([A-Za-z0-9+/=\s]+)-----END \1-----/;

/**
 * The key as PKCS#8, which alone crypto.subtle imports. Its line breaks may be written as `\n` or `\r\n`, or all of it in
 * base64.
 * @throws {Error} that contains no part of the key
 */
export function pkcs8Of(privateKey: string): string {
	const text = privateKey.replace(/\\[rn]/g, "\n");
	try {
		const pem = text.includes("-----BEGIN ") ? text : atob(text);
		const [, label, base64] = pemPattern.exec(pem) ?? [];
		const der = atob(base64 ?? "!");
		// PrivateKeyInfo: the version 0, rsaEncryption, the key in an octet string (RFC 5208, section 5; RFC 8017, appendix C).
		const algorithm = "\x02\x01\0\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\0";
		const key = label === "PRIVATE KEY" ? der : derValue("\x30", algorithm + derValue("\x04", der));
		return `-----BEGIN PRIVATE KEY-----\n${btoa(key)}\n-----END PRIVATE KEY-----`;
	} catch {
		throw new Error("GITHUB_APP_PRIVATE_KEY: must be an RSA private key in PEM");
	}
}

function derValue(tag: string, content: string): string {
	const { length } = content;
	return `${tag}\x82${String.fromCharCode(length >> 8, length & 255)}${content}`;
}
