// npx fragments catalogue: the catalogue page, with its index and all fragments, as a static site
import { resolve } from "node:path";
import { buildOutput, catalogueLine, checkOutput } from "../hosting/output.ts";
import { layersOption, nameSource, refOption, repoOption } from "../publish/source.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("catalogue", io)
		.addOption(layersOption)
		.addOption(repoOption)
		.addOption(refOption)
		.option(
			"--out <dir>",
			"output folder; the files of removed layers are removed from it",
			"deploy/site/dist",
		)
		.option("--public-url <address>", "its public address, for the feed of changes (PUBLIC_URL)")
		.option(
			"--repository <address>",
			"address of the public repository, for links to history (REPOSITORY_URL)",
		)
		.parse(argv, { from: "user" })
		.opts();
	const { source, name } = nameSource(options);
	const out = resolve(options.out);
	printError(io, `Writing the catalogue of ${name} into ${out}`);
	await checkOutput(out);
	const { publicUrl: PUBLIC_URL, repository: REPOSITORY_URL } = options;
	const given = { ...(PUBLIC_URL && { PUBLIC_URL }), ...(REPOSITORY_URL && { REPOSITORY_URL }), SITE: "on" };
	const { problems, catalogue } = await buildOutput(source, out, { ...environment, ...given });
	for (const problem of problems) printError(io, plain(problem));
	if (!catalogue) {
		printError(io, `${counted(problems.length, "problem")}; nothing was written`);
		return exitCodes.wrong;
	}
	printLine(io, catalogueLine(catalogue));
	return exitCodes.done;
});
