import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import glob from "fast-glob";
import { runGit } from "../git/run.ts";

/** How long a fetch may take, in milliseconds: the first one of a large repository is the whole history. */
const fetchLimitMs = 10 * 60_000;

/** The branch that is followed, and where to. */
export interface Followed {
	/** Address of a repository, or its path. */
	remote: string;
	branch: string;
	/** A bare repository of our own. */
	repository: string;
	/** The output of the build. */
	out: string;
	/** Variables for git, asked for at each fetch. */
	environment: () => Promise<Record<string, string>>;
}

/** Makes the repository where there is none, and removes what a killed process has left in it. */
export async function openFollowed({ repository }: Followed): Promise<void> {
	await mkdir(repository, { recursive: true });
	await runGit(repository, ["init", "--bare", "--quiet"]);
	// Nobody else works in it: it is locked for this process.
	const locks = await glob(["*.lock", "refs/**/*.lock"], { cwd: repository, dot: true });
	for (const lock of locks) await rm(join(repository, lock), { force: true });
	// What a fetch tidies up has ended with it.
	await runGit(repository, ["config", "gc.autoDetach", "false"]);
}

/**
 * Fetches the branch. A history that was rewritten is followed, too.
 * @returns the commit that it is at
 */
export async function fetchBranch({ remote, branch, repository, environment }: Followed): Promise<string> {
	const ref = `refs/heads/${branch}`;
	const options = ["--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options"];
	const words = ["fetch", ...options, remote, `+${ref}:${ref}`];
	await runGit(repository, words, { limitMs: fetchLimitMs, environment: await environment() });
	return (await runGit(repository, ["rev-parse", "--verify", ref])).toString("latin1").trim();
}
