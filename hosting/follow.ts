import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { filesBelow } from "../files/below.ts";
import { runGit } from "../git/run.ts";

/** Longest fetch, in milliseconds: the first one transfers the whole history. */
const fetchLimitMs = 10 * 60_000;

/** The followed repository, and its copy. */
export interface Followed {
	/** Address of a repository, or its path. */
	remote: string;
	branch: string;
	/** Path of the bare copy. */
	repository: string;
	/** The output of the build. */
	out: string;
	/** Returns git's environment variables; called at each fetch. */
	environment: () => Promise<Record<string, string>>;
}

/** Creates the copy where it does not exist, and removes the leftovers of a killed process. */
export async function openFollowed({ repository }: Followed): Promise<void> {
	await mkdir(repository, { recursive: true });
	await runGit(repository, ["init", "--bare", "--quiet"]);
	// This process has locked it.
	const locks = filesBelow(repository).filter((path) => /^(?:refs\/.+|[^/]+)\.lock$/.test(path));
	for (const lock of locks) await rm(join(repository, lock), { force: true });
	// The maintenance after a fetch runs in the fetch's own process.
	await runGit(repository, ["config", "gc.autoDetach", "false"]);
}

/**
 * Fetches the branch, also after its history was rewritten.
 * @returns its commit
 */
export async function fetchBranch({ remote, branch, repository, environment }: Followed): Promise<string> {
	const ref = `refs/heads/${branch}`;
	const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options"];
	const words = ["fetch", ...options, remote, `+${ref}:${ref}`];
	await runGit(repository, words, { limitMs: fetchLimitMs, environment: await environment() });
	return (await runGit(repository, ["rev-parse", "--verify", ref])).toString("latin1").trim();
}
