// npx fragments approvals: sets the check of the owners' approval on pull requests, and says who can still approve
import { readIfThere } from "../files/if-there.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import { judgePull, readTeams, unknownOwners } from "../review/approvals/github.ts";
import { openPulls, parsePulls } from "../review/pulls.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

const help = `
Run in a checkout of the base branch: its ${ownersPath} decides, and no pull request's own. One of register/* that its
owners have approved, and whose checks have passed, is merged.`;

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("approvals", io)
		.option(
			"--pulls <json>",
			"only these, as npx fragments pull-requests prints them, whose owners are asked for a review; without it all open ones",
		)
		.option("--author <login>", "the App that sets checks and comments", "github-actions[bot]")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const { author } = options;
	const wanted = options.pulls === undefined ? null : parsePulls(options.pulls);
	const configuration = readConfiguration(environment);
	const { owners } = parseOwners((await readIfThere(ownersPath)) ?? new Uint8Array(0));
	const github = connectToGithub(configuration);
	const base = configuration.github?.branch ?? "main";
	const isWanted = (number: number) => !wanted || wanted.some((pull) => pull.number === number);
	const pulls = (await openPulls(github, base)).filter(({ number }) => isWanted(number));
	const isRequesting = wanted !== null;
	const teams = owners && (pulls.length > 0 || !wanted) ? await readTeams(github, owners) : new Map();
	const unknown = owners && !wanted ? await unknownOwners(github, owners, teams) : [];
	// In GitHub Actions these lines become annotations of the file.
	const sign =
		environment.GITHUB_ACTIONS === "true" ? `::warning file=${ownersPath},title=Owners::` : "warning ";
	for (const line of unknown) printLine(io, sign + plain(line));
	let code: number = exitCodes.done;
	for (const pull of pulls) {
		try {
			const approvals = { github, base, owners, teams, author, isRequesting };
			const done = (await judgePull(approvals, pull)) ?? ["has a newer commit meanwhile"];
			printLine(io, plain(`#${pull.number}: ${done.join("; ")}`));
		} catch (error) {
			// The other pull requests are still judged; this one keeps its check.
			printError(io, plain(`#${pull.number}: could not be judged: ${(error as Error).message}`));
			code = exitCodes.unable;
		}
	}
	return code;
});
