// npx fragment-publisher setup-github: sets up a repository on GitHub as docs/production.md describes, or checks it
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { connectToGithub } from "../../../api/service/github.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { plain } from "../../../registry/plain.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import type { Outcome } from "../setup-github/checklist.ts";
import { setUp } from "../setup-github/setup.ts";

const help = `
GITHUB_TOKEN: a token of a person who may administer the repository; never write it on the command line. A classic
one needs the scopes repo and workflow (and read:org), a fine-grained one the permissions Administration, Actions,
Contents, Environments, Issues, Secrets, Variables and Workflows.
The workflows' settings (HOSTING, PUBLIC_URL, CLOUDFLARE_ACCOUNT_ID, …) are in the file published.env of the clone.
A fine-grained one for a repository that does not exist yet has to be for *all repositories*.
Run it again as often as you like: what is right is left alone, and what others have added to a ruleset stays. Exit code
1: something is missing.`;

/** Warns of features that GitHub offers for a private repository only on a paid plan (GitHub, "GitHub's plans"). */
const paidNote =
	"note: the repository is private. Rulesets and environments with secrets need GitHub Pro, Team or Enterprise there; " +
	"without them the workflows get no key, and everyone with write access can merge what no owner has approved.";

function parseRepository(text: string): string {
	if (/^[\w.-]+\/[\w.-]+$/.test(text)) return text;
	throw new InvalidArgumentError("It must be owner/name.");
}

/** The words before an outcome of each state, and after the number of such outcomes. */
const words: Record<Outcome["state"], [sign: string, sum: string]> = {
	right: ["right", "right"],
	set: ["set now", "set now"],
	"would be set": ["would set", "would be set"],
	missing: ["missing", "missing"],
	unseen: ["look at", "to look at"],
};

export const run = createRun("setup-github", async ({ read, environment, io }) => {
	const [options, repository] = await read((line) =>
		line
			.argument("<owner/name>", "the repository", parseRepository)
			.option("--dry-run", "write nothing, and say what would be set")
			.addOption(
				new Option("--create <visibility>", "make the repository where there is none").choices([
					"public",
					"private",
				] as const),
			)
			.option("--service-app <name>", "the service's App, by its name in github.com/apps/NAME")
			.option("--workflow-app <name>", "the workflows' App, another one")
			.addHelpText("after", help),
	);
	const token = environment.GITHUB_TOKEN;
	if (!token) throw new Error("GITHUB_TOKEN: must be set, to a token that may administer the repository");
	const configuration = readConfiguration({ ...environment, GITHUB_REPOSITORY: repository });
	io.warn(`Looking at ${repository}${options.dryRun ? "; nothing is written" : ""}`);
	const github = connectToGithub(configuration);
	const { outcomes, target } = await setUp(github, { ...options, configuration, token });
	for (const { what, state, text } of outcomes) {
		io.print(plain(`${words[state][0].padEnd(11)}${what}${text === "" ? "" : `: ${text}`}`));
	}
	if (target?.private) io.print(paidNote);
	const of = (state: Outcome["state"]) => outcomes.filter((one) => one.state === state).length;
	const states = (Object.keys(words) as Outcome["state"][]).filter((state) => of(state) > 0);
	io.print(states.map((state) => `${of(state)} ${words[state][1]}`).join(", "));
	return of("missing") + of("would be set") === 0 ? exitCodes.done : exitCodes.wrong;
});
