import { setTimeout as sleep } from "node:timers/promises";
import { createFetch } from "../harvest/net/fetch.ts";
import { authorizeWith, type Permissions } from "../store/github/auth.ts";
import { connect } from "../store/github/client.ts";
import type { Github } from "../store/github/routes.ts";
import type { Configuration } from "./settings.ts";

/** Longest that one request may take. */
const requestTimeoutMs = 60_000;

/** Longest that all requests of a script may take together, from the first one on. */
const scriptTimeoutMs = 30 * 60_000;

/** Largest answer of GitHub: a recursive tree of 100,000 entries has some 20 MB. */
const maxBytes = 64_000_000;

/** The guarded fetch, allowed to reach the API's address: that is the operator's own choice. */
export function fetchFromGithub({ harvest }: Configuration): typeof fetch {
	const { httpsProxy, noProxy } = harvest;
	return createFetch({ allowPrivate: true, timeoutMs: requestTimeoutMs, maxBytes, httpsProxy, noProxy });
}

/**
 * A way for a script to ask GitHub about the configured repository. Its time counts from the first request on: a
 * script may do other things for hours before.
 * @param permissions what an App's token is asked for; without them all that the App was granted
 * @throws {Error} where none is configured
 */
export function connectToGithub(
	configuration: Configuration,
	permissions?: Permissions,
	now = () => new Date(),
): Github {
	const { github } = configuration;
	const [owner, repo] = github?.repository.split("/") ?? [];
	if (!github || !owner || !repo) throw new Error("GITHUB_REPOSITORY: must be set, to owner/name");
	const connection = {
		owner,
		repo,
		apiUrl: github.apiUrl.replace(/(?<!\/)\/+$/, ""),
		fetch: fetchFromGithub(configuration),
		now,
		limitNow: now,
		sleep: (ms: number) => sleep(ms),
		random: Math.random,
		requestTimeoutMs,
	};
	let until: number | null = null;
	const deadline = () => {
		until ??= now().getTime() + scriptTimeoutMs;
		return until;
	};
	return connect(connection, authorizeWith(github.auth, now, permissions))(deadline);
}
