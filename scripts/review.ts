// npx fragments review: shows what a change does and what is wrong with it; manages the reviews on this machine
import { writeFile } from "node:fs/promises";
import { resolveCommit } from "../publish/collect.ts";
import { type Links, linksInto, noLinks, renderComment } from "../review/comment.ts";
import { annotationsOf, approvalLines, remarkLine, reportOf, summaryLine } from "../review/report.ts";
import { createCheckServices, isWrong, review } from "../review/review.ts";
import { type Environment, readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, needed } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { plain } from "../terminal/plain.ts";
import { accept, decline, list, show } from "./review/verbs.ts";

const help = `
Without a verb it compares two commits, as for a pull request. The verbs are for the changes that wait in the repository
of a service on this machine; a review is named by its key or by its branch. A map server that is down blocks nothing.`;

/** Links to files and owners, if the variables of GitHub Actions name a repository on GitHub. */
async function readLinks(environment: Environment, repository: string, head: string): Promise<Links> {
	const { GITHUB_SERVER_URL: web, GITHUB_REPOSITORY: name } = environment;
	if (!web || !name) return noLinks;
	return linksInto(web, name, await resolveCommit(repository, head));
}

export const run = createRun(async (argv, environment, io) => {
	let code: number = exitCodes.done;
	const line = createCommandLine("review", io)
		// An option after a verb belongs to the verb.
		.enablePositionalOptions()
		.option("--base <ref>", "needed without a verb: the commit that the change would be merged into")
		.option("--head <ref>", "the commit with the change; it is read as data, nothing of it runs", "HEAD")
		.option("--repo <dir>", "the git repository that has both", ".")
		.option("--out <file>", "write the comment for the pull request there")
		.option("--report <file>", "write the comment there with its annotations, for npx fragments comment")
		.addHelpText("after", help)
		.action(async ({ head, repo: repository, out, report, ...options }) => {
			const base = needed("--base", options.base);
			printError(io, plain(`Comparing ${base} with ${head} in ${repository}`));
			const settings = readConfiguration(withoutStore(environment));
			const { publicUrl, harvest } = settings;
			const check = createCheckServices(harvest);
			const outcome = await review({ repository, base, head, settings, publicUrl, check }).catch(
				(error: Error) => {
					throw new Error(plain(error.message));
				},
			);
			for (const remark of annotationsOf(outcome)) printLine(io, remarkLine(remark));
			const comment = renderComment(outcome, await readLinks(environment, repository, head));
			if (out !== undefined) await writeFile(out, comment);
			if (report !== undefined) await writeFile(report, JSON.stringify(reportOf(outcome, comment)));
			for (const line of [...approvalLines(outcome), summaryLine(outcome)]) printLine(io, line);
			code = isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
		});
	const verb = (name: string, description: string) =>
		line
			.command(name)
			.description(description)
			.option("--repo <dir>", "the repository of a service instead of that of DATA_DIR");
	verb("list", "list the changes that wait for a reviewer").action(async ({ repo }) => {
		code = await list(repo, environment, io);
	});
	verb("show", "show what a change does for viewers, what is wrong or odd, and who asked for it")
		.argument("<key>", "the key, or the branch, such as register/my-layer")
		.option("--markdown", "as a pull request's comment")
		.action(async (key, { repo, markdown = false }) => {
			code = await show(key, { repo, markdown }, environment, io);
		});
	verb("accept", "merge a change; without --commit it is shown, and a question asked first")
		.argument("<key>", "the key, or the branch, such as register/my-layer")
		.option("--commit <id>", "the commit that was shown: another one is not merged")
		.option("--by <name>", "who accepts it (who is logged in)")
		.action(async (key, options) => {
			code = await accept(key, options, environment, io);
		});
	verb("decline", "reject a change; the publisher reads the reason in the status of the layer")
		.argument("<key>", "the key, or the branch, such as register/my-layer")
		.option("--why <text>", "needed: the reason, one line")
		.option("--by <name>", "who declines it (who is logged in)")
		.action(async (key, options) => {
			code = await decline(key, options, environment, io);
		});
	await line.parseAsync(argv, { from: "user" });
	return code;
});
