// npm run build: every fragment as a static file
import { resolve } from "node:path";
import { Option } from "@commander-js/extra-typings";
import { build } from "./build/build.ts";
import { writeHostingFiles } from "./hosting/files.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "./terminal/command-line.ts";
import { printError, printLine } from "./terminal/io.ts";
import { plain } from "./terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("build", io)
		.addOption(new Option("--layers <dir>", "a folder of layers").default("layers").conflicts("repo"))
		.option("--repo <dir>", "a git repository instead")
		.option("--ref <ref>", "its commit (the branch main)")
		.option("--out <dir>", "where the files go; what is there of removed layers goes", "dist")
		.option("--compress", "a .gz and a .br beside each file, for a web server that looks for them")
		.option("--fresh", "look at every file again, also at those that the last build left in step")
		.parse(argv, { from: "user" })
		.opts();
	if (options.ref !== undefined && options.repo === undefined) throw new Error("--ref: is for --repo");
	const source =
		options.repo === undefined
			? { folder: options.layers }
			: { repository: options.repo, ref: options.ref ?? "refs/heads/main" };
	const out = resolve(options.out);
	const configuration = readConfiguration(withoutStore(environment));
	const { problems, written } = await build(source, out, configuration, options.fresh);
	for (const problem of problems) printError(io, plain(problem));
	if (!written) {
		printError(io, `${problems.length} problems; nothing was written`);
		return exitCodes.wrong;
	}
	await writeHostingFiles(out, options.compress ?? false);
	printLine(io, `${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed`);
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
