// npx fragments build: writes every fragment as a static file, and the catalogue
import { resolve } from "node:path";
import {
	buildOutput,
	catalogueLine,
	checkOutput,
	removeChecksums,
	writeChecksums,
} from "../hosting/output.ts";
import { layersOption, nameSource, refOption, repoOption } from "../publish/source.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

const help = `
A wrong file of a folder prevents the whole build. With --repo everything else is built, and a wrong file in its last
valid form; the exit code is 1 in both cases.`;

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("build", io)
		.addOption(layersOption)
		.addOption(repoOption)
		.addOption(refOption)
		.option("--out <dir>", "output folder; the files of removed layers are removed from it", "dist")
		.option("--compress", "a .gz and a .br beside each file, for a web server that looks for them")
		.option("--manifest", "manifest.json beside the files: the SHA-256 of each")
		.option("--fresh", "compare every file, also those that the last build recorded as complete")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const { source, name } = nameSource(options);
	const out = resolve(options.out);
	printError(io, `Building ${name} into ${out}`);
	await checkOutput(out);
	const { problems, written, catalogue } = await buildOutput(source, out, environment, options);
	for (const problem of problems) printError(io, plain(problem));
	const found = counted(problems.length, "problem");
	if (!written) {
		printError(io, `${found}; nothing was written`);
		return exitCodes.wrong;
	}
	await (options.manifest ? writeChecksums(out) : removeChecksums(out));
	printLine(io, `${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed`);
	if (catalogue) printLine(io, catalogueLine(catalogue));
	if (problems.length === 0) return exitCodes.done;
	printError(io, `${found}; those files are served in their last valid form, or not at all`);
	return exitCodes.wrong;
});
