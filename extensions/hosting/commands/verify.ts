// npx fragment-publisher verify: checks that a hosting serves the build (docs/hosting.md)
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { build, progress } from "../../../publish/build.ts";
import { plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, parseCount, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { nameSource, refOption, repoOption } from "../../../scripts/validate.ts";
import { presentFiles } from "../../../site/data/output.ts";
import { withTemporaryFolder } from "../../../store/files/files.ts";
import { changedKeys, chooseQuestions, costOf, listBuild, verifyHosting } from "../verify.ts";

const pauseMs = 1_000;
const defaultSample = 500;
const ofCatalogue = "files of the catalogue";

export const run = createRun("verify", async ({ read, environment, io }) => {
	const [{ repo, ref, sample = defaultSample, all = false, since, wait = 0, dist: built }, address] =
		await read((line) =>
			line
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
				.option(
					"--wait <seconds>",
					"how long differences are checked again, until there are none",
					parseCount,
				)
				.addOption(new Option("--dist <dir>", "the build to compare with").default("dist").conflicts("repo"))
				.addOption(repoOption)
				.addOption(refOption),
		);

	/** Verifies the hosting of a commit's build. @param files paths of the catalogue's files */
	async function verify(dist: string, repository: string, commit: string, files: readonly string[]) {
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
		io.warn(plain(`Asking for ${parts.join(" and ")}: ${number(costOf(questions))} requests`));
		const asked = questions.changed.length + questions.sampled.length;
		const bar = progress(asked + questions.files.length, "verifying");
		const until = Date.now() + wait * 1000;
		let differences = await verifyHosting(address, dist, questions, () => bar.tick());
		bar.stop();
		// A CDN updates late.
		while (differences.length > 0 && Date.now() < until) {
			await sleep(pauseMs);
			const left = new Set(differences.map(({ path }) => path));
			differences = await verifyHosting(address, dist, questions, () => undefined, left);
		}
		for (const { path, text } of differences) io.warn(plain(`${path}: ${text}`));
		const beside =
			files.length === 0 ? "" : ` and ${questions.files.length} of ${files.length} ${ofCatalogue}`;
		const found = differences.length === 0 ? "all as built" : `${differences.length} differ`;
		io.print(`${asked} of ${fragments.length} fragments${beside} checked: ${found}`);
		return differences.length === 0 ? exitCodes.done : exitCodes.wrong;
	}

	if (repo === undefined) {
		if (ref !== undefined) throw new Error("--ref: is for --repo");
		const dist = resolve(built);
		io.warn(`Comparing ${address} with the build in ${dist}`);
		// A build without --repo is a build of this checkout.
		return verify(dist, ".", "HEAD", presentFiles(dist).sort());
	}
	const { source, name } = nameSource({ repo, ref });
	io.warn(`Comparing ${address} with a build of ${name}`);
	const configuration = readConfiguration(withoutStore(environment));
	return withTemporaryFolder("verify-", async (temporary) => {
		const dist = join(temporary, "dist");
		const { problems, written } = await build(source, dist, configuration);
		if (!written) throw new Error(problems.map(plain).join("\n"));
		// The catalogue is not compared: it depends on more than the commit, such as the senders' names and the page's address.
		return verify(dist, repo, ref ?? "refs/heads/main", []);
	});
});
