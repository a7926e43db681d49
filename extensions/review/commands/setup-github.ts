// npx fragment-publisher setup-github: reads the settings of a repository on GitHub, and prints what differs (docs/production.md)
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { connectToGithub } from "../../../api/service/github.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { orNull } from "../../../store/github/client.ts";
import { differencesOf } from "../setup-github/repository-settings.ts";
import type { Difference, Target } from "../setup-github/rulesets.ts";

const help = `
It writes nothing. GITHUB_TOKEN: a token of a person who administers the repository, such as that of gh auth token; never write
it on the command line. A fine-grained one needs the permissions Administration, Actions, Environments, Secrets and Variables, each
to read. Run it in a clone: the settings of the workflows are in its published.env. Exit code 1: something differs.`;

function parseRepository(text: string): string {
	if (/^[\w.-]+\/[\w.-]+$/.test(text)) return text;
	throw new InvalidArgumentError("It must be owner/name.");
}

/** The lines of a difference: what it is, and the command that sets it right. */
function linesOf({ what, problem, line }: Difference): string[] {
	return [plain(`${what}: ${problem}`), ...(line ? [`    ${plain(line)}`] : [])];
}

export const run = createRun("setup-github", async ({ read, environment, io }) => {
	const [, repository] = await read((line) =>
		line.argument("<owner/name>", "the repository", parseRepository).addHelpText("after", help),
	);
	if (!environment.GITHUB_TOKEN)
		throw new Error("GITHUB_TOKEN: must be set, to a token that may administer the repository");
	const configuration = readConfiguration({ ...environment, GITHUB_REPOSITORY: repository });
	io.warn(`Looking at ${repository}; nothing is written`);
	const target: Target = { repository, branch: configuration.github?.branch ?? "main" };
	const { request } = connectToGithub(configuration);
	const { differences, checks } = await differencesOf(target, (path) => orNull(request(`GET /${path}`)));
	for (const difference of differences) for (const line of linesOf(difference)) io.print(line);
	io.print(`${differences.length} of ${checks} settings differ`);
	return differences.length === 0 ? exitCodes.done : exitCodes.wrong;
});
