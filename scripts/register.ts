// npx fragments register: stores many registrations in one commit
import { isSenderId } from "../api/senders.ts";
import { readBatch, storeBatch } from "../migrate/batch.ts";
import { openStore } from "../service/open-store.ts";
import { readConfiguration } from "../service/settings.ts";
import { isRefusal } from "../store/store.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

const help = `
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
All files are checked first. What is stored already is skipped: after a cut, run the same again.`;

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("register", io)
		.argument("<dir>", "a folder of <smallkey>.json, or of <ab>/<smallkey>.json as in layers/")
		.option("--review", "leave them on a branch for a reviewer; on GitHub with a pull request", false)
		.option("--sender <id>", "who the commit names as its author", "operator")
		.addHelpText("after", help)
		.parse(argv, { from: "user" });
	const [folder] = line.processedArgs;
	const { sender, review } = line.opts();
	if (!isSenderId(sender)) throw new Error(`--sender: must be 1 to 64 of A-Z a-z 0-9 . _ -, not ${sender}`);
	const { registrations, problems } = await readBatch(folder);
	for (const problem of problems) printError(io, plain(problem));
	if (problems.length > 0) {
		printError(io, `${counted(problems.length, "problem")}; nothing was written`);
		return exitCodes.wrong;
	}
	const open = await openStore(readConfiguration(environment));
	try {
		const outcome = await storeBatch(open.store, registrations, { sender, time: io.now().getTime(), review });
		if (isRefusal(outcome)) {
			for (const error of outcome.errors) printError(io, plain(error));
			printError(io, `${counted(outcome.errors.length, "problem")}; nothing was written`);
			return exitCodes.wrong;
		}
		const { changed, commit } = outcome;
		printLine(io, `${changed} registered, ${registrations.size - changed} stored already, in ${open.place}`);
		if (commit.changed) printLine(io, `commit ${commit.commit}`);
		if (commit.branch) printLine(io, `branch ${commit.branch}`);
		if (commit.pullRequest) printLine(io, `pull request ${commit.pullRequest}`);
		return exitCodes.done;
	} finally {
		await open.close();
	}
});
