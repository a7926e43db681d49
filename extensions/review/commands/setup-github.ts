// npx fragment-publisher setup-github: the settings of a repository on GitHub
import { connectToGithub } from "../../../api/service/github.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { orNull } from "../../../store/github/client.ts";
import { checkSettingsOf } from "../github-settings.ts";

const setupHelp = `
It writes nothing. GITHUB_TOKEN: a token of a person who administers the repository, such as that of gh auth token; never write
it on the command line. A fine-grained one needs the permissions Administration, Actions, Environments, Secrets and Variables, each
to read. Run it in a clone: the settings of the workflows are in its published.env. Exit code 1: something differs.`;

export const run = createRun("setup-github", async ({ read, environment, io }) => {
	const [, repository] = await read((line) =>
		line.argument("<owner/name>", "the repository").addHelpText("after", setupHelp),
	);
	if (!environment.GITHUB_TOKEN)
		throw new Error("GITHUB_TOKEN: must be set, to a token that may administer the repository");
	const configuration = readConfiguration({ ...environment, GITHUB_REPOSITORY: repository });
	io.warn(`Looking at ${repository}; nothing is written`);
	const { request } = connectToGithub(configuration);
	let [checks, differences] = [0, 0];
	await checkSettingsOf({
		repository,
		branch: configuration.github?.branch ?? "main",
		get: (path) => orNull(request(`GET /repos/${repository}${path}`)),
		check(what, problem, line) {
			checks += 1;
			if (!problem) return;
			differences += 1;
			io.print(plain(`${what}: ${problem}`));
			if (line) io.print(`    ${plain(line)}`);
		},
	});
	io.print(`${differences} of ${checks} settings differ`);
	return differences === 0 ? exitCodes.done : exitCodes.wrong;
});
