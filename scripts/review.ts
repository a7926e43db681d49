// npx fragments review: what a pull request changes, and what is wrong

import { writeFile } from "node:fs/promises";
import { createCheckLayer } from "../harvest/check-layer.ts";
import type { Ask } from "../harvest/net/ask.ts";
import { resolveCommit } from "../publish/collect.ts";
import { plainLine } from "../review/annotations.ts";
import { renderComment } from "../review/comment.ts";
import { type Links, linksInto, noLinks } from "../review/links.ts";
import { annotationsOf, reportOf } from "../review/report.ts";
import { isWrong, type Review, review } from "../review/review.ts";
import { askWith } from "../service/ask.ts";
import { type Environment, readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, needed } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";

/** Longest check of services in milliseconds, so that slow ones do not block the review. */
const longestAsking = 8 * 60_000;

/** Aborts all requests with a signal; services without an answer by then are reported as down. */
function askUntil(end: AbortSignal, ask: Ask): Ask {
	return (address, signal) => ask(address, signal ? AbortSignal.any([signal, end]) : end);
}

/** The required approvals, a line each. */
function approvalLines({ approvals }: Review): string[] {
	return (approvals ?? []).map(({ owners, paths }) => {
		return plain(`approval of ${owners.join(" or ")} for ${counted(paths.length, "file")}`);
	});
}

/** Links to files and owners where this runs for a repository of GitHub's, which says so in these variables. */
async function readLinks(environment: Environment, repository: string, head: string): Promise<Links> {
	const { GITHUB_SERVER_URL: web, GITHUB_REPOSITORY: name } = environment;
	if (!web || !name) return noLinks;
	return linksInto(web, name, await resolveCommit(repository, head));
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("review", io)
		.option("--base <ref>", "needed: the commit that the change would be merged into")
		.option("--head <ref>", "the commit with the change; it is read as data, nothing of it runs", "HEAD")
		.option("--repo <dir>", "the git repository that has both", ".")
		.option("--out <file>", "write the comment for the pull request there")
		.option("--report <file>", "write the comment there with its annotations, for npx fragments comment")
		.addHelpText("after", "\nA server that is down blocks nothing.")
		.parse(argv, { from: "user" })
		.opts();
	const base = needed("--base", options.base);
	printError(io, plain(`Comparing ${base} with ${options.head} in ${options.repo}`));
	const configuration = readConfiguration(withoutStore(environment));
	const outcome = await review({
		repository: options.repo,
		base,
		head: options.head,
		settings: configuration,
		publicUrl: configuration.publicUrl,
		check: createCheckLayer(askUntil(AbortSignal.timeout(longestAsking), askWith(configuration.harvest))),
	}).catch((error: Error) => {
		throw new Error(plain(error.message));
	});
	for (const { level, problem } of annotationsOf(outcome)) printLine(io, plainLine(level, problem));
	const links = await readLinks(environment, options.repo, options.head);
	const comment = renderComment(outcome, links);
	if (options.out !== undefined) await writeFile(options.out, comment);
	if (options.report !== undefined)
		await writeFile(options.report, JSON.stringify(reportOf(outcome, comment)));
	for (const line of approvalLines(outcome)) printLine(io, line);
	const { problems, services, layers } = outcome;
	printLine(
		io,
		`${counted(layers.length, "layer")} changed, ${problems.length + services.wrong.length} to correct, ` +
			`${services.down.length} warnings of servers that are down`,
	);
	return isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
});
