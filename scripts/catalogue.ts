// npm run catalogue: the catalogue page, with its index and all fragments, as a static site
import { resolve } from "node:path";
import { layersOption, nameSource, refOption, repoOption } from "./build/source.ts";
import { writeCatalogue } from "./build/write-catalogue.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "./terminal/command-line.ts";
import { printError, printLine } from "./terminal/io.ts";
import { plain } from "./terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("catalogue", io)
		.addOption(layersOption)
		.addOption(repoOption)
		.addOption(refOption)
		.option("--out <dir>", "where the files go; what else is there goes", "deploy/site/dist")
		.option("--public-url <address>", "address at which it will stand, for the feed of changes", "")
		.option("--repository <address>", "address of the public repository, for links to history", "")
		.parse(argv, { from: "user" })
		.opts();
	const { source, name } = nameSource(options);
	const out = resolve(options.out);
	printError(io, `Writing the catalogue of ${name} into ${out}`);
	const configuration = readConfiguration(withoutStore(environment));
	const { metadataUrl, catalogueUrl, mapWkid = 3978 } = configuration;
	const { problems, layers, written, removed } = await writeCatalogue(source, out, {
		fragments: configuration,
		publicUrl: options.publicUrl === "" ? "" : options.publicUrl.replace(/\/?$/, "/"),
		site: { repository: options.repository.replace(/\/$/, ""), metadataUrl, catalogueUrl, mapWkid },
	});
	for (const problem of problems) printError(io, plain(problem));
	if (problems.length > 0) {
		printError(io, `${problems.length} problems; nothing was written`);
		return exitCodes.wrong;
	}
	printLine(io, `${layers} layers: ${written} files written, ${removed} removed`);
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
