// npx fragments tell-failure: keeps one issue open for as long as a workflow fails

import { readTextIfThere } from "../files/if-there.ts";
import { fenced } from "../registry/markdown.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { dataOf, listOf } from "../store/github/answer.ts";
import { createCommandLine, createRun, exitCodes, needed } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

const help = `
A failed run notifies only the person who pushed, and no one where that was a bot. An issue reaches all watchers.`;

/** Characters of the details. */
const maxDetailsLength = 20_000;

/** Reads the details as lines of plain text. */
async function readDetails(path: string | undefined): Promise<string> {
	if (path === undefined) return "";
	// The failure is reported even if the file cannot be read: then the details are that error.
	const text = await readTextIfThere(path).catch((error: Error) => `${error.message}: ${error.cause}`);
	return (text ?? "").slice(0, maxDetailsLength).trim();
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("tell-failure", io)
		.option("--workflow <name>", "needed: the workflow, such as publish")
		.option("--results <words>", "needed: how its jobs ended, such as success skipped")
		.option("--run <address>", "needed: the page of its run")
		.option("--about <file>", "a text that the issue shows, where there is such a file")
		.option("--author <login>", "who opens the issue", "github-actions[bot]")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const workflow = needed("--workflow", options.workflow);
	const page = needed("--run", options.run);
	const fails = /\b(?:failure|cancelled)\b/.test(needed("--results", options.results));
	const { rest, repo, paginate } = connectToGithub(readConfiguration(environment));
	const title = `The workflow ${workflow} fails`;
	const issues = paginate(rest.issues.listForRepo, { ...repo, state: "open", per_page: 100 });
	const open = (await listOf(issues, "list the issues")).find((issue) => {
		return !issue.pull_request && issue.title === title && issue.user?.login === options.author;
	});

	/** Opens, updates or closes the issue. @returns what was done */
	async function updateIssue(): Promise<string> {
		const about = { ...repo, issue_number: open?.number ?? 0 };
		if (!fails) {
			if (!open) return "nothing to tell";
			const body = `It works again: ${page}`;
			await dataOf(rest.issues.createComment({ ...about, body }), "write a comment");
			await dataOf(rest.issues.update({ ...about, state: "closed" }), "close the issue");
			return `#${open.number} closed`;
		}
		const text = await readDetails(options.about);
		const lines = text === "" ? "" : `${fenced("text", text.split("\n").map(plain))}\n\n`;
		const closing = "This is closed by the next run that does not fail.";
		const body = `The last run that failed: ${page}\n\n${lines}${closing}\n`;
		if (open) {
			await dataOf(rest.issues.update({ ...about, body }), "update the issue");
			return `#${open.number} updated`;
		}
		const { number } = await dataOf(rest.issues.create({ ...repo, title, body }), "open an issue");
		return `#${number} opened`;
	}

	printLine(io, await updateIssue());
	return exitCodes.done;
});
