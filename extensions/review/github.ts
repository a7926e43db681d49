import { setTimeout as sleep } from "node:timers/promises";
import { fetchFromGithub } from "../../api/service/proxy.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { connect, type Github } from "../../store/github/client.ts";
import { authorizeWith } from "../../store/github/credentials.ts";

const requestTimeoutMs = 60_000;

const scriptTimeoutMs = 30 * 60_000;

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
