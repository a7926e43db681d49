// npx fragments follow: builds each new commit of a repository on GitHub (docs/hosting.md)
import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Followed, fetchBranch, openFollowed } from "../hosting/follow.ts";
import { buildOutput, checkOutput } from "../hosting/output.ts";
import { cloneUrlOf, createGitToken, gitEnvironment } from "../service/github-git.ts";
import { lockFolder } from "../service/lock.ts";
import {
	type Configuration,
	type Environment,
	readConfiguration,
	withoutStore,
} from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseCount } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

const help = `
GITHUB_REPOSITORY and its credentials as for npm start, which serves what is built (docs/hosting.md); with --remote none.
Ctrl-C or SIGTERM end it.`;

interface Options {
	once?: true | undefined;
	compress?: boolean | undefined;
	every: number;
}

/** Fetches and builds new commits until it is interrupted, or once. */
async function follow(
	followed: Followed,
	environment: Environment,
	options: Options,
	io: Io,
): Promise<number> {
	const stop = io.interrupted();
	let built = "";
	let trouble = "";
	for (;;) {
		try {
			const commit = await fetchBranch(followed);
			if (commit !== built) await buildCommit(followed, environment, commit, options, io);
			built = commit;
			if (trouble !== "") printLine(io, "It works again.");
			trouble = "";
			if (options.once) return exitCodes.done;
		} catch (error) {
			const { message } = error as Error;
			if (options.once) throw error;
			// A lasting problem is printed once. Meanwhile the previous build is served.
			if (message !== trouble) printError(io, plain(`not updated: ${message.trim().replace(/\n+/g, "; ")}`));
			trouble = message;
		}
		if (stop.aborted) return exitCodes.done;
		await sleep(options.every * 1_000, undefined, { signal: stop }).catch(() => undefined);
		if (stop.aborted) return exitCodes.done;
	}
}

/** Builds a commit. @throws {Error} where nothing could be built */
async function buildCommit(
	followed: Followed,
	environment: Environment,
	commit: string,
	{ compress = false }: Options,
	io: Io,
): Promise<void> {
	const source = { repository: followed.repository, ref: commit };
	const { problems, written } = await buildOutput(source, followed.out, environment, { compress });
	if (!written) throw new Error(`${commit}: ${problems.join("\n")}`);
	for (const problem of problems) printError(io, plain(problem));
	printLine(
		io,
		`${commit}: ${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed`,
	);
}

/** The given address, or the configured repository's with its credentials. */
function remoteOf(
	remote: string | undefined,
	configuration: Configuration,
	now: () => Date,
): Pick<Followed, "remote" | "environment"> {
	if (remote !== undefined) return { remote, environment: async () => ({}) };
	const { github, harvest } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set, to owner/name, or --remote");
	const url = cloneUrlOf(github);
	const token = createGitToken(configuration, now);
	return { remote: url, environment: async () => gitEnvironment(url, await token(), harvest.httpsProxy) };
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("follow", io)
		.option("--out <dir>", "where the files go", "dist")
		.option("--every <seconds>", "how often it looks for new commits", parseCount, 5)
		.option("--once", "look once, and end")
		.option("--remote <address>", "another git repository, without credentials")
		.option("--compress", "a .gz and a .br beside each file, for a web server that looks for them")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const configuration = readConfiguration(
		options.remote === undefined ? environment : withoutStore(environment),
	);
	const out = resolve(options.out);
	await checkOutput(out);
	await mkdir(dirname(out), { recursive: true });
	const followed: Followed = {
		...remoteOf(options.remote, configuration, io.now),
		branch: environment.GITHUB_BRANCH || "main",
		repository: join(configuration.dataDir, "follow.git"),
		out,
	};
	await mkdir(followed.repository, { recursive: true });
	const lock = await lockFolder(followed.repository, { waiting: (line) => printError(io, line) });
	try {
		await openFollowed(followed);
		printError(io, plain(`Following ${followed.branch} of ${followed.remote} into ${out}`));
		return await follow(followed, environment, options, io);
	} finally {
		await lock.release();
	}
});
