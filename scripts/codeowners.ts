// npx fragments codeowners: writes .github/CODEOWNERS from layers/owners.json, and reports what GitHub finds wrong in it
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Option } from "@commander-js/extra-typings";
import { readTextIfThere } from "../files/if-there.ts";
import { codeownersPath, codeownersText, type Owners, ownersPath, parseOwners } from "../registry/owners.ts";
import { annotations, plainLine } from "../review/annotations.ts";
import { codeownersErrors, unknownOwners } from "../review/approvals/known.ts";
import { connectToGithub } from "../service/github.ts";
import { type Environment, readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

const help = `
With GITHUB_REPOSITORY and a token (or an App) --check asks GitHub, too, for its own list of errors in ${codeownersPath}.
A team that does not exist takes its line out of force there.`;

/** Whether GitHub is configured. */
function hasCredentials({ GITHUB_REPOSITORY, GITHUB_TOKEN, GITHUB_APP_ID }: Environment): boolean {
	return Boolean(GITHUB_REPOSITORY && (GITHUB_TOKEN || GITHUB_APP_ID));
}

/** Warns about owners who cannot approve. */
async function warnOfUnknown(bytes: Uint8Array, owners: Owners, environment: Environment, io: Io) {
	const unknown = await unknownOwners(
		connectToGithub(readConfiguration(environment), { members: "read" }),
		owners,
	);
	const lines = new TextDecoder().decode(bytes).split("\n");
	const located = unknown.map(({ owner, reason }) => {
		const line = lines.findIndex((text) => text.includes(`"${owner}"`)) + 1;
		return { file: ownersPath, line: Math.max(1, line), pointer: "", text: `${owner}: ${reason}` };
	});
	const isOnGithub = environment.GITHUB_ACTIONS === "true";
	const shown = isOnGithub
		? annotations("warning", "Owners", located)
		: located.map((one) => plainLine("warning", one));
	for (const line of shown) printLine(io, line);
	printLine(io, unknown.length === 0 ? "GitHub knows all owners" : `${unknown.length} owners are not known`);
	return unknown.length === 0 ? exitCodes.done : exitCodes.wrong;
}

/** GitHub's errors in the branch's file. */
async function checkOnGithub(environment: Environment, io: Io): Promise<number> {
	const configuration = readConfiguration(environment);
	const branch = configuration.github?.branch ?? "main";
	const errors = await codeownersErrors(connectToGithub(configuration, { contents: "read" }), branch);
	if (errors === null) {
		printLine(io, `GitHub has no ${codeownersPath} on the branch ${branch}`);
		return exitCodes.done;
	}
	for (const error of errors) printError(io, plain(error));
	printLine(io, `GitHub finds ${errors.length} errors in it on the branch ${branch}`);
	return errors.length === 0 ? exitCodes.done : exitCodes.wrong;
}

export const run = createRun(async (argv, environment, io) => {
	const { check, owners: ofGithub } = createCommandLine("codeowners", io)
		.option("--check", `write nothing; exit code 1 where ${codeownersPath} is not what ${ownersPath} says`)
		.addOption(
			new Option(
				"--owners",
				`write nothing; ask GitHub whether all owners of ${ownersPath} could approve`,
			).conflicts("check"),
		)
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const bytes = await readFile(ownersPath);
	const { owners, problems } = parseOwners(bytes);
	for (const { text } of problems) printError(io, plain(`${ownersPath}: ${text}`));
	if (!owners) return exitCodes.wrong;
	if (ofGithub) return warnOfUnknown(bytes, owners, environment, io);
	const text = codeownersText(owners);
	const before = await readTextIfThere(codeownersPath);
	if (before === text) {
		printLine(io, `${codeownersPath} is as ${ownersPath} says`);
		return check && hasCredentials(environment) ? checkOnGithub(environment, io) : exitCodes.done;
	}
	if (check) {
		printError(io, `${codeownersPath}: is not as ${ownersPath} says; run npx fragments codeowners`);
		return exitCodes.wrong;
	}
	await mkdir(dirname(codeownersPath), { recursive: true });
	await writeFile(codeownersPath, text);
	printLine(io, `${codeownersPath} written`);
	return exitCodes.done;
});
