// npm run status: how the layers of a repository are
import { dirname } from "node:path";
import { findRepository } from "./service/find-repository.ts";
import { isFolderLocked } from "./service/lock.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { overviewLines, readOverview } from "./status/overview.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "./terminal/command-line.ts";
import { printError, printLine } from "./terminal/io.ts";
import { plain } from "./terminal/plain.ts";

export const run = createRun(async (argv, environment, io) => {
	const { repo } = createCommandLine("status", io)
		.option("--repo <dir>", "a git repository instead of that of DATA_DIR, or of this checkout")
		.parse(argv, { from: "user" })
		.opts();
	const { dataDir } = readConfiguration(withoutStore(environment));
	const { path, name } = await findRepository(repo, dataDir);
	printError(io, `Looking at the branch main of ${name}`);
	const overview = await readOverview(path);
	for (const line of overviewLines(overview, await isFolderLocked(dirname(path)))) printLine(io, plain(line));
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
