import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Github } from "../../store/github/client.ts";
import { authorizeWith } from "../../store/github/credentials.ts";
import { isExempt } from "./proxy.ts";
import type { Configuration } from "./settings.ts";

const requestTimeoutMs = 60_000;

const scriptTimeoutMs = 30 * 60_000;

/** By HTTPS_PROXY, unless NO_PROXY names the host. */
export function fetchFromGithub({ network: { httpsProxy, noProxy } }: Configuration): typeof fetch {
	if (httpsProxy === "") return fetch;
	const client = import("undici").then((undici) => {
		const dispatcher = new undici.ProxyAgent(httpsProxy);
		return (address: string, init: object) => undici.fetch(address, { ...init, dispatcher });
	});
	return async (input, init = {}) => {
		const address = String(input);
		if (isExempt(new URL(address), noProxy)) return fetch(address, init);
		const answer: unknown = await (await client)(address, init);
		return answer as Response;
	};
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
