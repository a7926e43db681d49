import { setTimeout as sleep } from "node:timers/promises";
import { authorizeWith } from "../../api/stores/github/auth.ts";
import { type Call, connect } from "../../api/stores/github/client.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import { fetchPastCheckout } from "./checkout-blobs.ts";
import type { Configuration } from "./settings.ts";

/** Longest that one request may take, and all of a script's together from the first one on, in milliseconds. */
const patience = 60_000;
const longestScript = 30 * 60_000;

/** Largest answer of GitHub, in bytes: a recursive tree of 100,000 entries has some 20 MB. */
const maxBytes = 64_000_000;

/**
 * The guarded fetch, allowed to reach the API's address: that is the operator's own choice.
 * @param checkout a checkout of the repository, whose blobs GitHub is not asked for
 */
export function fetchFromGithub({ harvest }: Configuration, checkout?: string): typeof fetch {
	const { httpsProxy, noProxy } = harvest;
	const fetch = createFetch({ allowPrivate: true, timeoutMs: patience, maxBytes, httpsProxy, noProxy });
	return checkout === undefined ? fetch : fetchPastCheckout(checkout, fetch);
}

/** What a script may add. */
export interface GithubAccess {
	/** The clock. */
	now?: () => Date;
	/** A checkout of the repository, whose blobs GitHub is not asked for. */
	checkout?: string;
}

/**
 * Makes a way to ask GitHub about the configured repository. Its time counts from the first request on: a script may
 * do other things for hours before.
 * @throws {Error} where none is configured
 */
export function openGithub(configuration: Configuration, access: GithubAccess = {}): Call {
	const { now = () => new Date(), checkout } = access;
	const { github } = configuration;
	const [owner, repo] = github?.repository.split("/") ?? [];
	if (!github || !owner || !repo) throw new Error("GITHUB_REPOSITORY: must be set, to owner/name");
	const connection = {
		owner,
		repo,
		apiUrl: github.apiUrl.replace(/(?<!\/)\/+$/, ""),
		fetch: fetchFromGithub(configuration, checkout),
		now,
		sleep: (ms: number) => sleep(ms),
		random: Math.random,
		patience,
	};
	const within = connect(connection, authorizeWith(github.auth, now));
	let call: Call | null = null;
	return (method, route, parameters) => {
		call ??= within(now().getTime() + longestScript);
		return call(method, route, parameters);
	};
}

/** All items of a list that GitHub hands out in pages of a hundred; at most `mostPages` of them. */
export async function* listAll<T>(call: Call, route: string, mostPages: number): AsyncGenerator<T> {
	for (let page = 1; page <= mostPages; page += 1) {
		const { status, data } = await call<T[]>("GET", route, { per_page: 100, page });
		if (status !== 200) throw new Error(`GitHub answers ${status} to GET ${route}`);
		yield* data;
		if (data.length < 100) return;
	}
}
