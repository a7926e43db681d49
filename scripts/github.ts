// npx fragments pull-requests, comment, approvals and tell-failure: what the workflows do on GitHub
import { join } from "node:path";
import { Option } from "@commander-js/extra-typings";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import { judgePull } from "../review/approvals/github.ts";
import { checkBranch, readTeams, unknownOwners } from "../review/approvals/owners.ts";
import { maxCommentLength } from "../review/comment.ts";
import { readComments, setCheckRun, unableTitle, writeComment } from "../review/post.ts";
import { findPulls, labelPull, openPulls, type PullRef, parsePulls, partOf } from "../review/pulls.ts";
import { parseReport, type Report } from "../review/report.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import { dataOf, type Github, listOf } from "../store/github/answer.ts";
import { readIfThere, readTextIfThere } from "../system/files/if-there.ts";
import { createRun, exitCodes, needed } from "../system/terminal/command-line.ts";
import type { Io } from "../system/terminal/io.ts";
import { plain } from "../system/terminal/plain.ts";
import { fenced } from "../system/untrusted-text.ts";

const authorOf = (what: string) => ["--author <login>", what, "github-actions[bot]"] as const;

const listHelp = `
Prints JSON, [{"number": 1, "head": "<commit>"}], for --pulls of npx fragments comment and npx fragments approvals.
Of more than 150, each hour prints another part.`;

const list = createRun("pull-requests", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		line
			.option("--head <commit>", "only those whose newest commit is this one")
			.addOption(
				new Option(
					"--missing <check>",
					"only those without this check, or that could not be checked",
				).conflicts("head"),
			)
			.option(...authorOf("the App that sets the check"))
			.addHelpText("after", listHelp),
	);
	const configuration = readConfiguration(environment);
	const base = configuration.github?.branch ?? "main";
	io.print(
		JSON.stringify(await findPulls(connectToGithub(configuration), base, { ...options, now: io.now() })),
	);
});

/** Does something for each pull request. @returns exit code: 2 where an error kept it from one of them */
async function forEach<Pull extends { number: number }>(
	pulls: readonly Pull[],
	task: (pull: Pull) => Promise<string>,
	failed: string,
	io: Io,
): Promise<number> {
	let code: number = exitCodes.done;
	for (const pull of pulls) {
		try {
			io.print(plain(`#${pull.number}: ${await task(pull)}`));
		} catch (error) {
			// The other pull requests still get theirs.
			io.warn(plain(`#${pull.number}: ${failed}${(error as Error).message}`));
			code = exitCodes.unable;
		}
	}
	return code;
}

/** The check that a ruleset requires. */
const checkName = "layers";

/** Characters of a report, which has a comment and its annotations. */
const maxReportLength = 8 * maxCommentLength;

const commentHelp = `
DIR has the file review-<number>.json of each pull request, which npx fragments review --report wrote. Where there is none, the check says that the change could not be checked.`;

/** Reads the report of a pull request; null if there is none. @throws {Error} if no review can have written it */
async function readReport(folder: string, { number }: PullRef): Promise<Report | null> {
	const path = join(folder, `review-${number}.json`);
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
	title: unableTitle,
	summary:
		"The workflow `layers` has failed; its log says why. It looks again each hour, and with the next push.",
};

/** Posts a report on its pull request. @returns what was done, in words */
async function post(github: Github, pull: PullRef, report: Report | null, author: string): Promise<string> {
	const { rest, repo } = github;
	const request = rest.pulls.get({ ...repo, pull_number: pull.number });
	const shown = await dataOf(request, "show the pull request");
	if (shown.head.sha !== pull.head || shown.state !== "open")
		return "nothing posted: it has changed meanwhile";
	const run = report
		? { ...report, name: checkName, title: titles[report.conclusion], summary: report.comment }
		: unable;
	await setCheckRun(github, pull.head, run, author);
	if (!report) return unable.title;
	const comments = await readComments(github, pull.number, author);
	const posted = await writeComment(github, pull.number, report.comment, comments);
	// Labels come last: they matter less than the comment.
	const labels = await labelPull(github, shown);
	return [posted, ...(labels.length > 0 ? [`labelled ${labels.join(", ")}`] : [])].join(", ");
}

const comment = createRun("comment", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		line
			.option("--pulls <json>", "needed: the pull requests, as npx fragments pull-requests prints them")
			.option("--reports <dir>", "needed: the folder of the reports")
			.option(...authorOf("who posts: only its comments are edited"))
			.addHelpText("after", commentHelp),
	);
	const pulls = parsePulls(needed("--pulls", options.pulls));
	const folder = needed("--reports", options.reports);
	const github = connectToGithub(readConfiguration(environment));
	const postOne = async (pull: PullRef) => post(github, pull, await readReport(folder, pull), options.author);
	return forEach(pulls, postOne, "", io);
});

const approvalsHelp = `
Run in a checkout of the base branch: its ${ownersPath} decides, and no pull request's own. One of register/* that its
owners have approved, and whose checks have passed, is merged.`;

const approvals = createRun("approvals", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		line
			.option(
				"--pulls <json>",
				"only these, as npx fragments pull-requests prints them, whose owners are asked for a review; without it all open ones, or of more than 150 each hour another part",
			)
			.option(...authorOf("the App that sets checks and comments"))
			.addHelpText("after", approvalsHelp),
	);
	const wanted = options.pulls === undefined ? null : parsePulls(options.pulls);
	const configuration = readConfiguration(environment);
	const { owners } = parseOwners((await readIfThere(ownersPath)) ?? new Uint8Array(0));
	const github = connectToGithub(configuration);
	const base = configuration.github?.branch ?? "main";
	const open = await openPulls(github, base);
	const isWanted = (number: number) => wanted?.some((pull) => pull.number === number);
	const pulls = wanted ? open.filter(({ number }) => isWanted(number)) : partOf(open, io.now());
	const teams = owners && (pulls.length > 0 || !wanted) ? await readTeams(github, owners) : new Map();
	const unknown = owners && !wanted ? await unknownOwners(github, owners, teams) : [];
	// In GitHub Actions these lines become annotations of the file.
	const isAction = environment.GITHUB_ACTIONS === "true";
	const sign = isAction ? `::warning file=${ownersPath},title=Owners::` : "warning ";
	for (const text of unknown) io.print(sign + plain(text));
	if (!wanted) await checkBranch(github, base, owners, unknown, options.author);
	const approvals = { github, base, owners, teams, author: options.author, isRequesting: wanted !== null };
	const judgeOne = async (pull: (typeof pulls)[number]) => {
		return ((await judgePull(approvals, pull)) ?? ["has changed meanwhile"]).join("; ");
	};
	return forEach(pulls, judgeOne, "could not be judged: ", io);
});

const failureHelp = `
A failed run notifies only the person who pushed, and no one where that was a bot. An issue reaches all watchers.`;

/** Longest text of `--about`, in characters. */
const maxDetailsLength = 20_000;

const tellFailure = createRun("tell-failure", async ({ read, environment, io }) => {
	const [options] = await read((line) =>
		line
			.option("--workflow <name>", "needed: the workflow, such as publish")
			.option("--results <words>", "needed: how its jobs ended, such as success skipped")
			.option("--run <address>", "needed: the page of its run")
			.option("--about <file>", "a text that the issue shows, where there is such a file")
			.option(...authorOf("who opens the issue"))
			.addHelpText("after", failureHelp),
	);
	const workflow = needed("--workflow", options.workflow);
	const page = needed("--run", options.run);
	const fails = /\b(?:failure|cancelled)\b/.test(needed("--results", options.results));
	const { rest, repo, paginate } = connectToGithub(readConfiguration(environment));
	const title = `The workflow ${workflow} fails`;
	const issues = paginate(rest.issues.listForRepo, { ...repo, state: "open", per_page: 100 });
	const open = (await listOf(issues, "list the issues")).find((issue) => {
		return !issue.pull_request && issue.title === title && issue.user?.login === options.author;
	});
	const about = { ...repo, issue_number: open?.number ?? 0 };
	if (!fails) {
		if (!open) return void io.print("nothing to tell");
		const body = `It works again: ${page}`;
		await dataOf(rest.issues.createComment({ ...about, body }), "write a comment");
		await dataOf(rest.issues.update({ ...about, state: "closed" }), "close the issue");
		return void io.print(`#${open.number} closed`);
	}
	// The failure is reported even if the file cannot be read: then the details are that error.
	const reading = options.about === undefined ? null : readTextIfThere(options.about);
	const text = await reading?.catch((error: Error) => `${error.message}: ${error.cause}`);
	const details = (text ?? "").slice(0, maxDetailsLength).trim();
	const lines = details === "" ? "" : `${fenced("text", details.split("\n").map(plain))}\n\n`;
	const closing = "This is closed by the next run that does not fail.";
	const body = `The last run that failed: ${page}\n\n${lines}${closing}\n`;
	if (open) {
		await dataOf(rest.issues.update({ ...about, body }), "update the issue");
		return void io.print(`#${open.number} updated`);
	}
	const { number } = await dataOf(rest.issues.create({ ...repo, title, body }), "open an issue");
	io.print(`#${number} opened`);
});

export const runs = { "pull-requests": list, comment, approvals, "tell-failure": tellFailure };
