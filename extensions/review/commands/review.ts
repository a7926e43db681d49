// npx fragment-publisher review: shows what a change does and what is wrong with it; manages the reviews on this machine
import { writeFile } from "node:fs/promises";
import { type Environment, type Io, WrongError } from "../../../api/configuration.ts";
import {
	findRepository,
	findWaiting,
	findWaitingReviews,
	servedRef,
	type Review as WaitingReview,
} from "../../../api/service/repository.ts";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { resolveCommit } from "../../../publish/collect.ts";
import { counted, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, needed } from "../../../scripts/terminal/command-line.ts";
import { gitText } from "../../../store/git/commands/run.ts";
import { linksInto, renderComment } from "../comment.ts";
import {
	acceptReview,
	confirmMerge,
	declineReview,
	isRepair,
	isStale,
	parseReason,
	parseReviewer,
	refuseChoice,
	refuseOthers,
	refuseStale,
	refuseUnseen,
	splitRepair,
	staleText,
} from "../decide.ts";
import { conflictObstacle } from "../layer-changes.ts";
import { annotationsOf, changeLines, obstacleLines, remarkLine, reportOf, summaryLine } from "../report.ts";
import { type CheckServices, createCheckServices, isWrong, review } from "../review.ts";
import { reviewLines } from "../status.ts";
import { proposalLines } from "./audit.ts";

const help = `
Without a verb it compares two commits, as for a pull request. The verbs are for the changes that wait in the repository
of a service on this machine; a review is named by its key, its name or its branch. A map server that is down blocks nothing.`;

interface Session {
	environment: Environment;
	io: Io;
	/** Without control characters. */
	print: (lines: readonly string[]) => void;
}

async function open(repo: string | undefined, environment: Environment) {
	const settings = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(repo, settings.dataDir);
	const reviewCommit = (head: string, check: CheckServices) =>
		review({ repository, base: servedRef, head, settings, check });
	return { settings, repository, name, reviewCommit };
}

/** The same for a decision. @throws {Error} if the repository is another user's, or a checkout */
async function openOwn(repo: string | undefined, environment: Environment) {
	const opened = await open(repo, environment);
	await refuseOthers({ path: opened.repository, name: opened.name });
	return opened;
}

type Comparison = Record<"head" | "repo", string> & Partial<Record<"base" | "out" | "report", string>>;

async function compare(options: Comparison, { environment, io, print }: Session): Promise<number> {
	const { head, repo: repository, out, report } = options;
	const base = needed("--base", options.base);
	io.warn(plain(`Comparing ${base} with ${head} in ${repository}`));
	const settings = readConfiguration(withoutStore(environment));
	const check = createCheckServices(settings.network);
	const outcome = await review({ repository, base, head, settings, check }).catch((error: Error) => {
		throw new Error(plain(error.message));
	});
	// In GitHub Actions the comment has links to files.
	const { GITHUB_SERVER_URL: web, GITHUB_REPOSITORY: name } = environment;
	const links = web && name ? linksInto(web, name, await resolveCommit(repository, head)) : null;
	const comment = renderComment(outcome, links);
	if (out !== undefined) await writeFile(out, comment);
	if (report !== undefined) await writeFile(report, JSON.stringify(reportOf(outcome, comment)));
	print([
		...obstacleLines(outcome),
		...annotationsOf(outcome).map(remarkLine),
		...(outcome.approvals ?? []).map(
			({ owners, paths }) => `approval of ${owners.join(" or ")} for ${counted(paths.length, "file")}`,
		),
		summaryLine(outcome),
	]);
	return isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
}

async function list(repo: string | undefined, { environment, io, print }: Session): Promise<void> {
	const { repository, name } = await open(repo, environment);
	const waiting = await reviewLines(repository);
	print(waiting);
	if (waiting.length === 0) io.warn(`no review waits in ${name}`);
}

async function show(key: string, repo: string | undefined, { environment, io, print }: Session) {
	const { settings, repository, reviewCommit } = await open(repo, environment);
	const waiting = await findWaiting(repository, key);
	const { branch, commit } = waiting;
	const outcome = await reviewCommit(commit, createCheckServices(settings.network));
	const stale = await isStale(repository, waiting);
	const evidence = isRepair(branch) ? await gitText(repository, ["log", "-1", "--format=%b", commit]) : "";
	print([
		`${branch} at commit ${commit}`,
		...(await proposalLines(repository, commit, io.now().getTime())),
		...evidence.split("\n").filter(Boolean),
		...changeLines(outcome),
		summaryLine(outcome),
		stale
			? `It cannot be merged: ${staleText}. Decline it, and ask the sender to send it again`
			: `To merge exactly this: npx fragment-publisher review accept ${branch} --commit ${commit.slice(0, 12)}`,
		`To decline it: npx fragment-publisher review decline ${branch} --why "the reason"`,
	]);
	return stale || isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
}

interface Decision {
	repo?: string;
	by?: string;
	/** Smallkeys of a repair. */
	only?: string[];
}

async function accept(words: readonly string[], options: Decision & { commit?: string }, session: Session) {
	const { repo, by, commit: shown, only } = options;
	const { environment, io, print } = session;
	const reviewer = parseReviewer(by);
	if (shown !== undefined && !/^[0-9a-f]{7,64}$/.test(shown))
		throw new Error("--commit: must be an id as npx fragment-publisher review show prints it");
	const { repository, name, reviewCommit } = await openOwn(repo, environment);
	const reviews = await findWaitingReviews(repository, words);
	const [whole] = reviews as [WaitingReview];
	if (reviews.length > 1 && (shown !== undefined || only))
		throw new Error(`--commit, --only: are for one review, and these are ${reviews.length}`);
	if (shown !== undefined) refuseUnseen(whole, shown);
	const part = await splitRepair(repository, whole, only);
	const chosen = only ? [part.chosen] : reviews;
	for (const waiting of chosen) {
		io.warn(plain(`Accepting ${waiting.branch} of ${waiting.author} in ${name}`));
		await refuseChoice(repository, waiting);
		// A merge does not wait for map services: only `show` asks them.
		const outcome = await reviewCommit(waiting.commit, async () => ({ findings: [] }));
		print(changeLines(outcome));
		if (outcome.problems.length > 0 || outcome.outside.length > 0)
			throw new WrongError(
				"Not accepted: the problems must be corrected first, and a review may change layers only",
			);
		// `acceptReview` says of a conflict what to do.
		if (outcome.obstacle !== null && outcome.obstacle !== conflictObstacle)
			throw new WrongError(`Not accepted: ${outcome.obstacle}`);
	}
	// A refusal leaves the repair whole.
	if (only) await refuseStale(repository, part.chosen);
	if (shown === undefined) await confirmMerge(chosen, io);
	await part.split();
	let code: number = exitCodes.done;
	for (const waiting of chosen) {
		try {
			const merge = await acceptReview(repository, waiting, reviewer);
			print([`Accepted: ${merge.slice(0, 12)} is on the branch main`]);
		} catch (error) {
			if (chosen.length === 1 || !(error instanceof WrongError)) throw error;
			// The others are merged all the same.
			io.warn(plain(error.message));
			code = exitCodes.wrong;
		}
	}
	return code;
}

async function decline(key: string, options: Decision & { why?: string }, session: Session): Promise<void> {
	const { environment, io, print } = session;
	const reason = parseReason(needed("--why", options.why));
	const reviewer = parseReviewer(options.by);
	const { repository, name } = await openOwn(options.repo, environment);
	const { chosen, split } = await splitRepair(repository, await findWaiting(repository, key), options.only);
	io.warn(plain(`Declining ${chosen.branch} of ${chosen.author} in ${name}`));
	await split();
	const branch = await declineReview(repository, chosen, reviewer, reason);
	print([`Declined; the change is kept on the branch ${branch}`]);
}

export const run = createRun("review", async ({ read, environment, io }) => {
	let code: number = exitCodes.done;
	const print = (lines: readonly string[]) => {
		for (const line of lines) io.print(plain(line));
	};
	const session = { environment, io, print };
	await read((top) => {
		const line = top
			// An option after a verb belongs to the verb.
			.enablePositionalOptions()
			.option("--base <ref>", "needed without a verb: the commit that the change would be merged into")
			.option("--head <ref>", "the commit with the change; it is read as data, nothing of it runs", "HEAD")
			.option("--repo <dir>", "the git repository that has both", ".")
			.option("--out <file>", "write the comment for the pull request there")
			.option(
				"--report <file>",
				"write the comment there with its annotations, for npx fragment-publisher approvals",
			)
			.addHelpText("after", help)
			.action(async (options) => {
				code = await compare(options, session);
			});
		const verb = (name: string, description: string) =>
			line
				.command(name)
				.description(description)
				.option("--repo <dir>", "the repository of a service instead of that of DATA_DIR");
		const keyText = "the key, or the branch, such as register/my-layer";
		const onlyOption = [
			"--only <smallkey...>",
			"of a repair: these layers alone; the others still wait",
		] as const;

		verb("list", "list the changes that wait for a reviewer").action(({ repo }) => list(repo, session));
		verb("show", "show what a change does for viewers, what is wrong or odd, and who asked for it")
			.argument("<key>", keyText)
			.action(async (key, { repo }) => {
				code = await show(key, repo, session);
			});
		verb("accept", "merge changes; without --commit they are shown, and a question asked first")
			.argument(
				"<reviews...>",
				"keys, globs of keys, names of reviews, or branches such as register/my-layer",
			)
			.option("--commit <id>", "the commit that was shown: another one is not merged")
			.option("--by <name>", "who accepts it (who is logged in)")
			.option(...onlyOption)
			.action(async (words, options) => {
				code = await accept(words, options, session);
			});
		verb("decline", "reject a change; the publisher reads the reason in the status of the layer")
			.argument("<key>", keyText)
			.option("--why <text>", "needed: the reason, one line")
			.option("--by <name>", "who declines it (who is logged in)")
			.option(...onlyOption)
			.action((key, options) => decline(key, options, session));
		return line;
	});
	return code;
});
