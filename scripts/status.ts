// npx fragments status: prints the status of a repository's layers, or of one layer at a service
import { dirname } from "node:path";
import { overviewLines, printStatus } from "../review/status.ts";
import { isFolderLocked } from "../service/data-dir.ts";
import { findRepository } from "../service/repository.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseUrl } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("status", io)
		.argument("[smallkey]", "how this layer is, as the service at --url says; without it, how all are")
		.option(
			"--url <url>",
			"with a smallkey: the service with its base path (http://127.0.0.1:8080)",
			parseUrl,
		)
		.option("--repo <dir>", "a git repository instead of that of DATA_DIR, or of this checkout")
		.parse(argv, { from: "user" });
	const { repo, url } = line.opts();
	const [smallkey] = line.processedArgs;
	if (smallkey !== undefined) {
		if (repo !== undefined) throw new Error("--repo: is for all layers; a service knows how one is");
		return printStatus({ url: url ?? "http://127.0.0.1:8080", smallkey }, io);
	}
	if (url !== undefined)
		throw new Error("--url: is for one layer: npx fragments status <smallkey> --url <url>");
	const { dataDir } = readConfiguration(withoutStore(environment));
	const { path, name } = await findRepository(repo, dataDir);
	printError(io, `Looking at the branch main of ${name}`);
	const lines = await overviewLines(path, await isFolderLocked(dirname(path)));
	for (const text of lines) printLine(io, plain(text));
	return exitCodes.done;
});
