// npx fragments comment: posts what npx fragments review found on its pull request, and sets the check layers
import { join } from "node:path";
import { readTextIfThere } from "../files/if-there.ts";
import { marker, maxCommentLength } from "../review/comment.ts";
import { findCheckRun, readCheckRuns, readComments, setCheckRun, writeComment } from "../review/post.ts";
import { labelPull, type PullRef, parsePulls } from "../review/pulls.ts";
import { parseReport, type Report } from "../review/report.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { dataOf, type Github } from "../store/github/answer.ts";
import { createCommandLine, createRun, exitCodes, needed } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";

/** The check that a ruleset requires. */
const checkName = "layers";

/** Characters of a report, which has a comment and its annotations. */
const maxReportLength = 8 * maxCommentLength;

const help = `
DIR has a folder review-<number> for each pull request, with the report.json that npx fragments review --report wrote.
Where there is none, the check says that the change could not be checked.`;

/** Reads the report of a pull request; null if there is none. @throws {Error} if no review can have written it */
async function readReport(folder: string, { number }: PullRef): Promise<Report | null> {
	const path = join(folder, `review-${number}`, "report.json");
	const text = await readTextIfThere(path);
	if (text === null) return null;
	if (text.length > maxReportLength) throw new Error(`${path}: has more than ${maxReportLength} characters`);
	return parseReport(text);
}

const titles = {
	success: "the layers are in order",
	failure: "something has to be corrected: see the comment",
} as const;

const unable = {
	name: checkName,
	conclusion: "failure" as const,
	title: "could not be checked",
	summary: "The workflow `layers` has failed; its log says why. It looks again with the next push.",
};

/** Posts a report on its pull request. @returns what was done, in words */
async function post(github: Github, pull: PullRef, report: Report | null, author: string): Promise<string> {
	const { rest, repo } = github;
	const request = rest.pulls.get({ ...repo, pull_number: pull.number });
	const shown = await dataOf(request, "show the pull request");
	if (shown.head.sha !== pull.head || shown.state !== "open")
		return "nothing posted: it has changed meanwhile";
	const before = findCheckRun(await readCheckRuns(github, pull.head), checkName, author);
	if (!report) {
		await setCheckRun(github, pull.head, unable, before);
		return unable.title;
	}
	const { conclusion, comment, annotations } = report;
	const run = { name: checkName, conclusion, title: titles[conclusion], summary: comment, annotations };
	await setCheckRun(github, pull.head, run, before);
	const comments = await readComments(github, pull.number, author);
	const posted = await writeComment(github, pull.number, marker, comment, comments);
	// Labels come last: they matter less than the comment.
	const labels = await labelPull(github, shown);
	return [posted, ...(labels.length > 0 ? [`labelled ${labels.join(", ")}`] : [])].join(", ");
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("comment", io)
		.option("--pulls <json>", "needed: the pull requests, as npx fragments pull-requests prints them")
		.option("--reports <dir>", "needed: the folder of the reports")
		.option("--author <login>", "who posts: only its comments are edited", "github-actions[bot]")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const pulls = parsePulls(needed("--pulls", options.pulls));
	const folder = needed("--reports", options.reports);
	const github = connectToGithub(readConfiguration(environment));
	let code: number = exitCodes.done;
	for (const pull of pulls) {
		try {
			const report = await readReport(folder, pull);
			printLine(io, plain(`#${pull.number}: ${await post(github, pull, report, options.author)}`));
		} catch (error) {
			// The other reports are still posted.
			printError(io, plain(`#${pull.number}: ${(error as Error).message}`));
			code = exitCodes.unable;
		}
	}
	return code;
});
