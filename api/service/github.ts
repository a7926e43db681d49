import { setTimeout as sleep } from "node:timers/promises";
import { tryJson } from "../../registry/untrusted-text.ts";
import { authorizeWith, connect, type Github } from "../../store/github/client.ts";
import { createFetch } from "./net/fetch.ts";
import type { Configuration } from "./settings.ts";

const maxAnswerBytes = 1_000_000;

export interface ServiceAnswer {
	ok: boolean;
	status: number;
	text: string;
	date: Date | null;
	etag: string | null;
}

/**
 * The answer is untrusted text: print it with `plain`. `timeoutMs`: for the whole answer.
 * @throws {Error} with the address if no answer arrives in time, or the answer is too large
 */
export async function askService(
	address: string,
	timeoutMs: number,
	init: RequestInit = {},
	maxBytes = maxAnswerBytes,
): Promise<ServiceAnswer> {
	try {
		const answer = await createFetch({ allowPrivate: true, timeoutMs, maxBytes })(address, init);
		const date = new Date(answer.headers.get("Date") ?? "");
		return {
			ok: answer.ok,
			status: answer.status,
			text: await answer.text(),
			date: Number.isNaN(date.getTime()) ? null : date,
			etag: answer.headers.get("ETag"),
		};
	} catch (cause) {
		throw new Error(address, { cause });
	}
}

/** Of a refusal; for any other answer, such as a proxy's, its lines. */
export function errorsOf({ text }: ServiceAnswer): string[] {
	const { errors } = (tryJson(text) ?? {}) as { errors?: unknown };
	if (!Array.isArray(errors)) return text.split("\n").filter((line) => line !== "");
	return errors.map((error) => (typeof error === "string" ? error : JSON.stringify(error)));
}

const requestTimeoutMs = 60_000;

const scriptTimeoutMs = 30 * 60_000;

/** A recursive tree of 100,000 entries has about 20 MB. */
const maxBytes = 64_000_000;

export function fetchFromGithub({ network }: Configuration): typeof fetch {
	const { httpsProxy, noProxy } = network;
	return createFetch({ allowPrivate: true, timeoutMs: requestTimeoutMs, maxBytes, httpsProxy, noProxy });
}

export function connectToGithub(
	configuration: Configuration,
	fetch = fetchFromGithub(configuration),
): Github {
	const now = () => new Date();
	const { github } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set, to owner/name");
	const connection = { ...github, fetch, now, sleep, requestTimeoutMs };
	return connect(connection, authorizeWith(github.auth, now))(now().getTime() + scriptTimeoutMs);
}
