// npx fragment-publisher owners and setup-github: accounts and settings on GitHub
import { readFile, writeFile } from "node:fs/promises";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { connectToGithub } from "../../../api/service/github.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { ownersPath } from "../../../registry/owners.ts";
import { plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { type Github, orNull } from "../../../store/github/client.ts";
import { checkSettingsOf } from "../github-settings.ts";

const ownersHelp = `
@ada becomes @ada#123. Approvals are compared by the id, since a login becomes free for others after a rename; an account
that was renamed gets its new login. GITHUB_TOKEN: any token, without permissions. Exit code 1: an owner is not the
account of a person, and nothing is written.`;

/** An owner in the text of the owners file: a string that starts with `@`, which no glob and no sender does. */
const quotedLogin = /"@([A-Za-z0-9][A-Za-z0-9_-]*)(?:#(\d+))?"/g;

/** `problems`: the owners that are no account of a person. The rest of the text stays. */
async function fillIds({ rest }: Github, text: string) {
	const filled = new Map<string, string>();
	const problems: string[] = [];
	for (const [quoted, username = "", id] of text.matchAll(quotedLogin)) {
		if (filled.has(quoted)) continue;
		const account = await orNull(
			id ? rest.users.getById({ account_id: Number(id) }) : rest.users.getByUsername({ username }),
		);
		const isPerson = account !== null && account.type !== "Organization";
		if (!account) problems.push(`${quoted}: there is no such account`);
		else if (!isPerson) problems.push(`${quoted}: is an organisation; name one of its teams`);
		filled.set(quoted, isPerson ? `"@${account.login}#${account.id}"` : quoted);
	}
	return { text: text.replace(quotedLogin, (quoted) => filled.get(quoted) ?? quoted), problems };
}

const owners = createRun("owners", async ({ read, environment, io }) => {
	await read((line) => line.addHelpText("after", ownersHelp));
	if (!environment.GITHUB_TOKEN) throw new Error("GITHUB_TOKEN: must be set, to any token");
	// Accounts are of no repository; a connection has one.
	const GITHUB_REPOSITORY = environment.GITHUB_REPOSITORY || "no/repository";
	const github = connectToGithub(readConfiguration({ ...environment, GITHUB_REPOSITORY }));
	const before = await readFile(ownersPath, "utf8");
	const { text, problems } = await fillIds(github, before);
	for (const problem of problems) io.print(plain(`${ownersPath}: ${problem}`));
	if (problems.length > 0) return exitCodes.wrong;
	if (text === before) return void io.print(`${ownersPath}: has the id of each account`);
	await writeFile(ownersPath, text);
	io.print(`${ownersPath}: written`);
});

const setupHelp = `
It writes nothing. GITHUB_TOKEN: a token of a person who administers the repository, such as that of gh auth token; never write
it on the command line. A fine-grained one needs the permissions Administration, Actions, Environments, Secrets and Variables, each
to read. Run it in a clone: the settings of the workflows are in its published.env. Exit code 1: something differs.`;

function parseRepository(text: string): string {
	if (/^[\w.-]+\/[\w.-]+$/.test(text)) return text;
	throw new InvalidArgumentError("It must be owner/name.");
}

const setup = createRun("setup-github", async ({ read, environment, io }) => {
	const [, repository] = await read((line) =>
		line.argument("<owner/name>", "the repository", parseRepository).addHelpText("after", setupHelp),
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

export const runs = { owners, "setup-github": setup };
