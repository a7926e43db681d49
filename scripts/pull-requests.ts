// npx fragments pull-requests: reports merge conflicts, rebuilds the service's own pull requests, removes closed branches
import { removeClosedBranches } from "../review/pull-requests/branches.ts";
import { openPulls, resolveConflict } from "../review/pull-requests/conflicts.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

const help = `
GitHub starts no workflow of a pull request that has a conflict: this looks at all that are open. Those of register/* and
refresh are the service's own; a branch goes an hour after its pull request was closed.`;

/** Without an App, a workflow's own token may not do this, which is reported and no failure. */
function isWithoutRight(error: unknown): boolean {
	return error instanceof Error && /not accessible by integration/i.test(error.message);
}

export const run = createRun(async (argv, environment, io) => {
	const { author } = createCommandLine("pull-requests", io)
		.option("--author <login>", "who comments", "github-actions[bot]")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const configuration = readConfiguration(environment);
	const github = connectToGithub(configuration, { contents: "write", pull_requests: "write" });
	const base = configuration.github?.branch ?? "main";
	let code: number = exitCodes.done;
	for (const pull of await openPulls(github, base)) {
		try {
			const done = await resolveConflict(github, pull, { base, author });
			if (done !== null) printLine(io, plain(`#${pull.number}: ${done}`));
		} catch (error) {
			printError(io, plain(`#${pull.number}: ${(error as Error).message}`));
			if (!isWithoutRight(error)) code = exitCodes.unable;
		}
	}
	try {
		for (const branch of await removeClosedBranches(github, io.now()))
			printLine(io, plain(`${branch}: removed, its pull request is closed`));
	} catch (error) {
		if (!isWithoutRight(error)) throw error;
		printError(io, plain(`branches: ${(error as Error).message}`));
	}
	return code;
});
