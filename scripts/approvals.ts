// npx fragments approvals: sets the status of the owners' approval on pull requests, and lists who can still approve
import { readFile } from "node:fs/promises";
import { readIfThere } from "../files/if-there.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import { hasTeams, judgePull, openPulls, readTeams } from "../review/approvals/github.ts";
import { parseRun } from "../review/post.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

const help = `
Run in a checkout of the base branch: its ${ownersPath} applies, and not that of a pull request.`;

/** The branch of the event's pull request, as `owner:branch`; null where the event has none. */
export async function branchOfRun(event: string): Promise<string | null> {
	const run = parseRun(await readFile(event, "utf8"));
	return run && `${run.owner}:${run.branch}`;
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("approvals", io)
		.option("--event <file>", "only the pull request of this workflow_run event; without it all open ones")
		.option("--author <login>", "who sets statuses and comments", "github-actions[bot]")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const configuration = readConfiguration(environment);
	const { owners } = parseOwners((await readIfThere(ownersPath)) ?? new Uint8Array(0));
	const github = connectToGithub(configuration, {
		pull_requests: "write",
		statuses: "write",
		...(owners && hasTeams(owners) ? { members: "read" } : {}),
	});
	const from = options.event === undefined ? undefined : await branchOfRun(options.event);
	if (from === null) {
		printLine(io, "nothing to do: the run was for no pull request");
		return exitCodes.done;
	}
	const pulls = await openPulls(github, configuration.github?.branch ?? "main", from);
	const teams = owners && pulls.length > 0 ? await readTeams(github, owners) : new Map();
	let code: number = exitCodes.done;
	for (const pull of pulls) {
		const settings = { author: options.author, isRequesting: from !== undefined };
		try {
			const judgement = await judgePull(github, pull, owners, teams, settings);
			const outcome = judgement
				? `${judgement.state}: ${judgement.description}`
				: "has a newer commit meanwhile";
			printLine(io, plain(`#${pull.number}: ${outcome}`));
		} catch (error) {
			// The others are still judged; this one keeps its status.
			printError(io, plain(`#${pull.number}: could not be judged: ${(error as Error).message}`));
			code = exitCodes.unable;
		}
	}
	return code;
});
