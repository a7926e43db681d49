// npx fragments verify: checks that a hosting serves the build (docs/hosting.md)
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import { presentFiles } from "../catalogue/output.ts";
import { withTemporaryFolder } from "../files/temporary-folder.ts";
import { changedKeys, chooseQuestions, costOf, listBuild, verifyHosting } from "../hosting/verify.ts";
import { build } from "../publish/build.ts";
import { nameSource, refOption, repoOption } from "../publish/source.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseCount, parseUrl } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";
import { progress } from "../terminal/progress.ts";

/** Pause between two attempts, in milliseconds. */
const pauseMs = 1_000;

/** Default number of sampled fragments. */
const defaultSample = 500;

const ofCatalogue = "files of the catalogue";

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
	const { repo, ref, sample = defaultSample, all = false, since, wait = 0, dist: built } = line.opts();
	const [address] = line.processedArgs;

	/** Chooses what to request from the hosting of a commit's build. @param files paths of the catalogue's files */
	async function choose(dist: string, repository: string, commit: string, files: readonly string[]) {
		const fragments = await listBuild(dist);
		const changed = since ? await changedKeys(repository, since, commit) : new Set<string>();
		const questions = chooseQuestions(fragments, changed, all ? Number.POSITIVE_INFINITY : sample, files);
		const number = (count: number) => count.toLocaleString("en");
		const others = fragments.length - questions.changed.length;
		const parts = [
			...(since ? [`${number(changed.size)} changed layers`] : []),
			`${number(questions.sampled.length)} of ${number(others)} fragments`,
			...(files.length > 0
				? [`${number(questions.files.length)} of ${number(files.length)} ${ofCatalogue}`]
				: []),
		];
		printError(io, plain(`Asking for ${parts.join(" and ")}: ${number(costOf(questions))} requests`));
		return { dist, questions, total: fragments.length, totalFiles: files.length };
	}

	/** Verifies the hosting, and checks differences again until there are none or the time is over: a CDN updates late. */
	async function verify({ dist, questions, total, totalFiles }: Awaited<ReturnType<typeof choose>>) {
		const fragments = questions.changed.length + questions.sampled.length;
		const files = questions.files.length;
		const bar = progress(fragments + files, "verifying");
		const until = Date.now() + wait * 1000;
		let differences = await verifyHosting(address, dist, questions, () => bar.tick());
		bar.stop();
		while (differences.length > 0 && Date.now() < until) {
			await sleep(pauseMs);
			const left = new Set(differences.map(({ path }) => path));
			differences = await verifyHosting(address, dist, questions, () => undefined, left);
		}
		for (const { path, text } of differences) printError(io, plain(`${path}: ${text}`));
		const beside = totalFiles === 0 ? "" : ` and ${files} of ${totalFiles} ${ofCatalogue}`;
		const found = differences.length === 0 ? "all as built" : `${differences.length} differ`;
		printLine(io, `${fragments} of ${total} fragments${beside} checked: ${found}`);
		return differences.length === 0 ? exitCodes.done : exitCodes.wrong;
	}

	if (repo === undefined) {
		if (ref !== undefined) throw new Error("--ref: is for --repo");
		const dist = resolve(built);
		printError(io, `Comparing ${address} with the build in ${dist}`);
		// A build without --repo is a build of this checkout.
		return verify(await choose(dist, ".", "HEAD", presentFiles(dist).sort()));
	}
	const { source, name } = nameSource({ repo, ref });
	printError(io, `Comparing ${address} with a build of ${name}`);
	const configuration = readConfiguration(withoutStore(environment));
	return withTemporaryFolder("verify-", async (temporary) => {
		const dist = join(temporary, "dist");
		const { problems, written } = await build(source, dist, configuration);
		if (!written) throw new Error(problems.map(plain).join("\n"));
		// The catalogue is not compared: it depends on more than the commit, such as the senders' names and the page's address.
		return verify(await choose(dist, repo, ref ?? "refs/heads/main", []));
	});
});
