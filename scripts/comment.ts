// npx fragments comment: posts the output of npx fragments review, or updates it
import { readFile, stat } from "node:fs/promises";
import { Option } from "@commander-js/extra-typings";
import { longestComment } from "../review/comment.ts";
import { labelPull } from "../review/label-pull.ts";
import { findPullRequest, parseRun, postComment, type Run } from "../review/post.ts";
import { setStatus } from "../review/status.ts";
import { connectToGithub } from "../service/github.ts";
import { readConfiguration } from "../service/settings.ts";
import type { Github } from "../store/github/routes.ts";
import { createCommandLine, createRun, exitCodes, needed } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";

/** Reads a text of at most `maxBytes`. @throws {Error} where it is larger, or not UTF-8 */
async function readText(path: string, maxBytes: number): Promise<string> {
	const { size } = await stat(path);
	if (size > maxBytes) throw new Error(`${path}: has ${size} bytes, over the limit of ${maxBytes}`);
	return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
}

/** The status that a ruleset requires. */
const statusContext = "layers";

const descriptions = {
	success: "the layers are valid",
	failure: "there are problems: see the comment",
	error: "could not be looked at: see the workflow comment",
} as const;

async function setState(github: Github, { head }: Run, state: keyof typeof descriptions, author: string) {
	const status = { context: statusContext, state, description: descriptions[state] };
	await setStatus(github, head, status, author);
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("comment", io)
		.option("--file <file>", "needed: the comment, as npx fragments review --out FILE wrote it")
		.option("--event <file>", "the workflow_run event (GITHUB_EVENT_PATH): it tells the pull request")
		.option("--author <login>", "who posts: only its comment is edited", "github-actions[bot]")
		.addOption(
			new Option("--state <state>", `also set the status ${statusContext} of the commit`).choices([
				"success",
				"failure",
				"error",
			] as const),
		)
		.parse(argv, { from: "user" })
		.opts();
	const file = needed("--file", options.file);
	const event = options.event ?? environment.GITHUB_EVENT_PATH;
	if (event === undefined) throw new Error("--event: is needed where GITHUB_EVENT_PATH is not set");
	const configuration = readConfiguration(environment);
	const github = connectToGithub(configuration, { pull_requests: "write", statuses: "write" });
	const run = parseRun(await readText(event, 4_000_000));
	const number = run && (await findPullRequest(github, run, configuration.github?.branch ?? "main"));
	if (number === null) {
		printLine(io, "nothing posted: the run's commit is not the newest of an open pull request");
		return exitCodes.done;
	}
	if (options.state !== undefined && run !== null) await setState(github, run, options.state, options.author);
	if (options.state === "error") {
		printLine(io, `#${number}: could not be looked at`);
		return exitCodes.done;
	}
	const text = await readText(file, 4 * longestComment);
	printLine(io, `#${number}: ${await postComment(github, number, text, options.author)}`);
	// Last, because the labels matter least.
	const labelled = run === null ? [] : await labelPull(github, number, run);
	if (labelled.length > 0) printLine(io, `#${number}: labelled ${labelled.join(", ")}`);
	return exitCodes.done;
});
