// npx fragment-publisher owners, setup-github and tell-failure: accounts, settings and issues on GitHub
import { readFile, writeFile } from "node:fs/promises";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { connectToGithub } from "../../../api/service/github.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import { ownersPath } from "../../../registry/owners.ts";
import { fenced, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, needed } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
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

const failureHelp = `
A failed run notifies only the person who pushed, and no one where that was a bot. An issue reaches all watchers.`;

const maxDetailsLength = 20_000;

const tellFailure = createRun("tell-failure", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		line
			.option("--workflow <name>", "needed: the workflow, such as publish")
			.option("--results <words>", "needed: how its jobs ended, such as success skipped")
			.option("--run <address>", "needed: the page of its run")
			.option("--about <file>", "a text that the issue shows, where there is such a file")
			.option("--author <login>", "who opens the issue", "github-actions[bot]")
			.addHelpText("after", failureHelp),
	);
	const workflow = needed("--workflow", options.workflow);
	const page = needed("--run", options.run);
	const fails = /\b(?:failure|cancelled)\b/.test(needed("--results", options.results));
	const { rest, repo, paginate } = connectToGithub(readConfiguration(environment));
	const title = `The workflow ${workflow} fails`;
	const issues = await paginate(rest.issues.listForRepo, { ...repo, state: "open", per_page: 100 });
	const open = issues.find(
		(issue) => !issue.pull_request && issue.title === title && issue.user?.login === options.author,
	);
	const about = { ...repo, issue_number: open?.number ?? 0 };
	if (!fails) {
		if (!open) return void io.print("nothing to tell");
		await rest.issues.createComment({ ...about, body: `It works again: ${page}` });
		await rest.issues.update({ ...about, state: "closed" });
		return void io.print(`#${open.number} closed`);
	}
	// The failure is reported even if the file cannot be read: then the details are that error.
	const reading = options.about === undefined ? null : readTextIfThere(options.about);
	const text = await reading?.catch((error: Error) => `${error.message}: ${error.cause}`);
	const details = (text ?? "").slice(0, maxDetailsLength).trim();
	const lines = details === "" ? "" : `${fenced("text", details.split("\n").map(plain))}\n\n`;
	const body = `The last run that failed: ${page}\n\n${lines}This is closed by the next run that does not fail.\n`;
	if (open) {
		await rest.issues.update({ ...about, body });
		return void io.print(`#${open.number} updated`);
	}
	const { number } = (await rest.issues.create({ ...repo, title, body })).data;
	io.print(`#${number} opened`);
});

export const runs = { owners, "setup-github": setup, "tell-failure": tellFailure };
