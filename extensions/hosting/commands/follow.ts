// npx fragment-publisher follow: builds each new commit of a repository on GitHub (docs/hosting.md)
import { mkdir, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import glob from "fast-glob";
import { gitRemote } from "../../../api/service/github.ts";
import { lockFolder } from "../../../api/service/lock.ts";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { plain } from "../../../registry/plain.ts";
import { createRun, parseCount } from "../../../scripts/terminal/command-line.ts";
import { buildOutput, checkOutput } from "../../../site/build/output.ts";
import { gitText, runGit } from "../../../store/git/commands/run.ts";

const help = `
GITHUB_REPOSITORY and its credentials as for npm start, which serves what is built (docs/hosting.md); with --remote none.
Ctrl-C or SIGTERM end it.`;

/** Time limit of a fetch, in milliseconds: the first one transfers the whole history. */
const fetchTimeoutMs = 10 * 60_000;

export const run = createRun("follow", async ({ read, environment, io, extensions }) => {
	const [{ remote: named, every, once, ...options }] = await read((line) =>
		line
			.option("--out <dir>", "where the files go", "dist")
			.option("--every <seconds>", "how often it looks for new commits", parseCount, 5)
			.option("--once", "look once, and end")
			.option("--remote <address>", "another git repository, without credentials")
			.option("--compress", "a .gz and a .br beside each file, for a web server that looks for them")
			.addHelpText("after", help),
	);
	const configuration = readConfiguration(named === undefined ? environment : withoutStore(environment));
	const out = resolve(options.out);
	await checkOutput(out);
	await mkdir(dirname(out), { recursive: true });
	const repository = join(configuration.dataDir, "follow.git");
	const branch = environment.GITHUB_BRANCH || "main";
	const ref = `refs/heads/${branch}`;
	const { remote, gitVariables } =
		named === undefined
			? gitRemote(configuration, io.now)
			: { remote: named, gitVariables: async () => ({}) };
	await mkdir(repository, { recursive: true });

	/** Fetches the branch, also after its history was rewritten. @returns its commit */
	async function fetchBranch(): Promise<string> {
		const flags = ["--quiet", "--no-tags", "--no-write-fetch-head", "--end-of-options"];
		const words = ["fetch", ...flags, remote, `+${ref}:${ref}`];
		await runGit(repository, words, { limitMs: fetchTimeoutMs, environment: await gitVariables() });
		return gitText(repository, ["rev-parse", "--verify", ref]);
	}

	async function build(commit: string): Promise<void> {
		const { problems, written } = await buildOutput({ repository, ref: commit }, out, environment, {
			...options,
			extensions,
		});
		if (!written) throw new Error(`${commit}: ${problems.join("\n")}`);
		for (const problem of problems) io.warn(plain(problem));
		const counts = `${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed`;
		io.print(`${commit}: ${counts}`);
	}

	const lock = await lockFolder(repository, { waiting: io.warn });
	try {
		await runGit(repository, ["init", "--bare", "--quiet"]);
		// This process has locked the folder, so a lock file of git is a killed process's.
		const locks = await glob(["*.lock", "refs/**/*.lock"], { cwd: repository, absolute: true, dot: true });
		for (const lock of locks) await rm(lock, { force: true });
		// git's maintenance after a fetch runs in the foreground, and ends with the fetch.
		await runGit(repository, ["config", "gc.autoDetach", "false"]);
		io.warn(plain(`Following ${branch} of ${remote} into ${out}`));
		const stop = io.interrupted();
		let built = "";
		let lastError = "";
		while (!stop.aborted) {
			try {
				const commit = await fetchBranch();
				if (commit !== built) await build(commit);
				built = commit;
				if (lastError !== "") io.print("It works again.");
				lastError = "";
				if (once) break;
			} catch (error) {
				const { message } = error as Error;
				if (once) throw error;
				// A lasting problem is printed once. The previous build stays in place.
				if (message !== lastError) io.warn(plain(`not updated: ${message.trim().replace(/\n+/g, "; ")}`));
				lastError = message;
			}
			await sleep(every * 1_000, undefined, { signal: stop }).catch(() => undefined);
		}
	} finally {
		await lock.release();
	}
});
