import { authorizeWith } from "../store/github/auth.ts";
import { connectToGithub } from "./github.ts";
import type { Configuration, GitHubSettings } from "./settings.ts";

/** Where git reaches the repository: the API of github.com and of ghe.com is on a host of its own, that of an Enterprise Server is not. */
export function cloneUrlOf({ apiUrl, repository }: GitHubSettings): string {
	const { protocol, host } = new URL(apiUrl);
	return `${protocol}//${host.replace(/^api\.(?=github\.com$|[^.]+\.ghe\.com$)/, "")}/${repository}.git`;
}

/**
 * Environment variables with which git authenticates at an address. The token is not on the command line, where other
 * users could see it, and is sent to that address only.
 */
export function gitEnvironment(url: string, token: string, proxy: string): Record<string, string> {
	const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
	return {
		GIT_CONFIG_COUNT: "1",
		GIT_CONFIG_KEY_0: `http.${url}.extraHeader`,
		GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
		...(proxy ? { https_proxy: proxy } : {}),
	};
}

/** Returns a function that gives a valid token for git; the token of an App is renewed in time. */
export function createGitToken(configuration: Configuration, now: () => Date): () => Promise<string> {
	const { github } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set, to owner/name");
	const authorize = authorizeWith(github.auth, now, { contents: "read" });
	return async () => {
		const header = await authorize(connectToGithub(configuration, undefined, now));
		return header.replace(/^Bearer /, "");
	};
}
