import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Github } from "../../store/github/client.ts";
import { authorizeWith } from "../../store/github/credentials.ts";
import { createFetch } from "./net/fetch.ts";
import type { Configuration } from "./settings.ts";

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
