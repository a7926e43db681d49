// npm run comment -- --file FILE [--event FILE] [--author LOGIN]: posts what npm run review wrote, or edits it
import { readFile, stat } from "node:fs/promises";
import { parseArgs } from "node:util";
import { longestComment } from "./review/comment.ts";
import { findPullRequest, parseRun, postComment } from "./review/post.ts";
import { openGithub } from "./service/github.ts";
import { readConfiguration } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = `npm run comment -- --file FILE [--event FILE] [--author LOGIN]

  --file FILE      the comment, as npm run review -- --out FILE wrote it
  --event FILE     the workflow_run event (GITHUB_EVENT_PATH): it tells the pull request
  --author LOGIN   who posts: only a comment of that login is edited (github-actions[bot])`;

const options = {
	file: { type: "string" },
	event: { type: "string" },
	author: { type: "string", default: "github-actions[bot]" },
	help: { type: "boolean", short: "h" },
} as const;

/** Reads a text of at most so many bytes. @throws {Error} where it is larger, or not UTF-8 */
async function readText(path: string, mostBytes: number): Promise<string> {
	const { size } = await stat(path);
	if (size > mostBytes) throw new Error(`${path}: has ${size} bytes, over the ${mostBytes} that are read`);
	return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
}

await runCommand(async () => {
	const { values } = parseArgs({ options });
	if (values.help) {
		console.log(usage);
		return 0;
	}
	const event = values.event ?? process.env.GITHUB_EVENT_PATH;
	if (values.file === undefined || event === undefined) throw new Error(`usage: ${usage}`);
	const configuration = readConfiguration(process.env);
	const call = openGithub(configuration);
	const run = parseRun(await readText(event, 4_000_000));
	const number = run && (await findPullRequest(call, run, configuration.github?.branch ?? "main"));
	if (number === null) {
		console.log("nothing posted: the run's commit is not the newest of an open pull request");
		return 0;
	}
	const text = await readText(values.file, 4 * longestComment);
	console.log(`#${number}: ${await postComment(call, number, text, values.author)}`);
	return 0;
});
