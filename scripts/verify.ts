// npx fragments verify: checks that a hosting serves the build (docs/hosting.md)
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import { withTemporaryFolder } from "../files/temporary-folder.ts";
import {
	changedKeys,
	chooseQuestions,
	costOf,
	listBuild,
	listCatalogue,
	verifyHosting,
} from "../hosting/verify.ts";
import { build } from "../publish/build.ts";
import { nameSource, refOption, repoOption } from "../publish/source.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseCount, parseUrl } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";
import { progress } from "../terminal/progress.ts";

/** Pause between two attempts, in milliseconds. */
const pauseMs = 1_000;

/** Default size of the sample of fragments. */
const defaultSample = 500;

/** A hosting that is compared with a build of a commit. */
interface Task {
	address: string;
	dist: string;
	repository: string;
	commit: string;
	/** Files of the catalogue that are compared. */
	files: readonly string[];
}

interface Options {
	/** Most fragments beside those of changed layers. */
	sample?: number | undefined;
	all?: true | undefined;
	/** Layers that changed since this commit are checked. */
	since?: string | undefined;
	/** How long differences are checked again, in seconds. */
	wait?: number | undefined;
}

/** Chooses the requests, and checks differences again until the time is over, since a CDN updates within seconds. */
async function verify(
	{ address, dist, repository, commit, files: all }: Task,
	options: Options,
	io: Io,
): Promise<number> {
	const { sample = defaultSample, since, wait = 0 } = options;
	const built = await listBuild(dist);
	const changed = since ? await changedKeys(repository, since, commit) : new Set<string>();
	const questions = chooseQuestions(built, changed, options.all ? Number.POSITIVE_INFINITY : sample, all);
	const { sampled, files } = questions;
	const number = (count: number) => count.toLocaleString("en");
	const parts = [
		...(since ? [`${number(changed.size)} changed layers`] : []),
		`${number(sampled.length)} of ${number(built.length - questions.changed.length)} fragments`,
		...(all.length > 0 ? [`${number(files.length)} of ${number(all.length)} files of the catalogue`] : []),
	];
	printError(io, plain(`Asking for ${parts.join(" and ")}: ${number(costOf(questions))} requests`));
	const fragments = questions.changed.length + sampled.length;
	const bar = progress(fragments + files.length, "verifying");
	const until = Date.now() + wait * 1000;
	let differences = await verifyHosting(address, dist, questions, () => bar.tick());
	bar.stop();
	while (differences.length > 0 && Date.now() < until) {
		await sleep(pauseMs);
		const left = new Set(differences.map(({ path }) => path));
		differences = await verifyHosting(address, dist, questions, () => undefined, left);
	}
	for (const { path, text } of differences) printError(io, plain(`${path}: ${text}`));
	const ofCatalogue = all.length === 0 ? "" : ` and ${files.length} of ${all.length} files of the catalogue`;
	const found = differences.length === 0 ? "all as built" : `${differences.length} differ`;
	printLine(io, `${fragments} of ${built.length} fragments${ofCatalogue} checked: ${found}`);
	return differences.length === 0 ? exitCodes.done : exitCodes.wrong;
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("verify", io)
		.argument("<url>", "the service with its base path, such as https://fragments.example", parseUrl)
		.option(
			"--sample <n>",
			`how many fragments are checked beside the changed ones, and files of the catalogue, spread over all (${defaultSample})`,
			parseCount,
		)
		.addOption(
			new Option("--all", "check every fragment, and every file of the catalogue").conflicts("sample"),
		)
		.option(
			"--since <commit>",
			"also check every layer that has changed since then, and that removed ones are gone",
		)
		.option("--wait <seconds>", "how long differences are checked again, until there are none", parseCount)
		.addOption(new Option("--dist <dir>", "the build to compare with").default("dist").conflicts("repo"))
		.addOption(repoOption)
		.addOption(refOption)
		.parse(argv, { from: "user" });
	const { repo, ref, ...options } = line.opts();
	const [address] = line.processedArgs;
	if (repo === undefined) {
		if (ref !== undefined) throw new Error("--ref: is for --repo");
		const dist = resolve(options.dist);
		printError(io, `Comparing ${address} with the build in ${dist}`);
		// The build is of the checkout.
		const task = { address, dist, repository: ".", commit: "HEAD", files: listCatalogue(dist) };
		return verify(task, options, io);
	}
	const { source, name } = nameSource({ repo, ref });
	printError(io, `Comparing ${address} with a build of ${name}`);
	const configuration = readConfiguration(withoutStore(environment));
	return withTemporaryFolder("verify-", async (temporary) => {
		const dist = join(temporary, "dist");
		const { problems, written } = await build(source, dist, configuration);
		if (!written) throw new Error(problems.map(plain).join("\n"));
		// A catalogue depends on more than the commit: the senders' names, the page's address.
		const task = { address, dist, repository: repo, commit: ref ?? "refs/heads/main", files: [] };
		return verify(task, options, io);
	});
});
