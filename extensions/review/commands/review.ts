// npx fragment-publisher review: shows what a change does and what is wrong with it; manages the reviews on this machine
import { writeFile } from "node:fs/promises";
import { type Environment, type Io, WrongError } from "../../../api/configuration.ts";
import {
	findRepository,
	findWaiting,
	findWaitingReviews,
	type Review,
	servedRef,
} from "../../../api/service/repository.ts";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { resolveCommit } from "../../../publish/collect.ts";
import { counted, plain } from "../../../registry/untrusted-text.ts";
import { createRun, exitCodes, needed } from "../../../scripts/terminal/command-line.ts";
import { gitText } from "../../../store/git/commands/run.ts";
import { linksInto, renderComment } from "../comment.ts";
import {
	acceptReview,
	choosePart,
	confirmMerge,
	declineReview,
	isRepair,
	isStale,
	parseReason,
	parseReviewer,
	refuseChoice,
	refuseOthers,
	refuseUnseen,
	staleAdvice,
} from "../decide.ts";
import { conflictObstacle } from "../layer-changes.ts";
import { changeLines, remarkLines, reportOf, summaryLine } from "../report.ts";
import { type CheckServices, createCheckServices, isWrong, review } from "../review.ts";
import { reviewLines } from "../status.ts";
import { proposalLines } from "./audit.ts";

const help = `
Without a verb it compares two commits, as for a pull request. The verbs are for the changes that wait in the repository
of a service on this machine; a review is named by its key, its name or its branch. A map server that is down blocks nothing.`;

interface Session {
	environment: Environment;
	io: Io;
	/** Without control characters, as `warn`. */
	print: (...lines: string[]) => void;
	warn: (text: string) => void;
}

/** @param isDecision then the repository has to be a service's, and this user's */
async function open({ environment }: Session, repo: string | undefined, isDecision = false) {
	const settings = readConfiguration(withoutStore(environment));
	const { path: repository, name } = await findRepository(repo, settings.dataDir);
	if (isDecision) await refuseOthers(repository, name);
	const reviewCommit = (head: string, check: CheckServices) =>
		review({ repository, base: servedRef, head, settings, check });
	return { settings, repository, name, reviewCommit };
}

interface Comparison {
	base?: string;
	head: string;
	repo: string;
	out?: string;
	report?: string;
}

async function compare(session: Session, { head, repo: repository, ...options }: Comparison) {
	const { environment, print, warn } = session;
	const base = needed("--base", options.base);
	warn(`Comparing ${base} with ${head} in ${repository}`);
	const settings = readConfiguration(withoutStore(environment));
	const check = createCheckServices(settings.network);
	const outcome = await review({ repository, base, head, settings, check }).catch((error: Error) => {
		throw new Error(plain(error.message));
	});
	// In GitHub Actions the comment has links to files.
	const { GITHUB_SERVER_URL: web, GITHUB_REPOSITORY: name } = environment;
	const links = web && name ? linksInto(web, name, await resolveCommit(repository, head)) : undefined;
	const comment = renderComment(outcome, links);
	if (options.out !== undefined) await writeFile(options.out, comment);
	if (options.report !== undefined)
		await writeFile(options.report, JSON.stringify(reportOf(outcome, comment)));
	print(...remarkLines(outcome));
	for (const { owners, paths } of outcome.approvals ?? [])
		print(`approval of ${owners.join(" or ")} for ${counted(paths.length, "file")}`);
	print(summaryLine(outcome));
	return isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
}

interface Place {
	/** A service's repository instead of that of DATA_DIR. */
	repo?: string;
}

async function list(session: Session, { repo }: Place) {
	const { repository, name } = await open(session, repo);
	const waiting = await reviewLines(repository);
	session.print(...waiting);
	if (waiting.length === 0) session.warn(`no review waits in ${name}`);
	return exitCodes.done;
}

async function show(session: Session, key: string, { repo }: Place) {
	const { io, print } = session;
	const { settings, repository, reviewCommit } = await open(session, repo);
	const waiting = await findWaiting(repository, key);
	const { branch, commit } = waiting;
	const outcome = await reviewCommit(commit, createCheckServices(settings.network));
	const stale = await isStale(repository, waiting);
	const evidence = isRepair(branch) ? await gitText(repository, ["log", "-1", "--format=%b", commit]) : "";
	print(
		`${branch} at commit ${commit}`,
		...(await proposalLines(repository, commit, io.now().getTime())),
		...evidence.split("\n").filter(Boolean),
		...changeLines(outcome),
		summaryLine(outcome),
		stale
			? `It cannot be merged: ${staleAdvice}`
			: `To merge exactly this: npx fragment-publisher review accept ${branch} --commit ${commit.slice(0, 12)}`,
		`To decline it: npx fragment-publisher review decline ${branch} --why "the reason"`,
	);
	return stale || isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
}

interface Choice extends Place {
	by?: string;
	/** Smallkeys of a repair. */
	only?: string[];
}

async function accept(session: Session, words: string[], options: Choice & { commit?: string }) {
	const { repo, by, commit: shown, only } = options;
	const { io, print, warn } = session;
	const reviewer = parseReviewer(by);
	if (shown !== undefined && !/^[0-9a-f]{7,64}$/.test(shown))
		throw new Error("--commit: must be an id as npx fragment-publisher review show prints it");
	const { repository, name, reviewCommit } = await open(session, repo, true);
	const reviews = await findWaitingReviews(repository, words);
	const [whole] = reviews as [Review];
	if (reviews.length > 1 && (shown !== undefined || only))
		throw new Error(`--commit, --only: are for one review, and these are ${reviews.length}`);
	if (shown !== undefined) refuseUnseen(whole, shown);
	const chosen = only ? [await choosePart(repository, whole, only)] : reviews;
	for (const waiting of chosen) {
		warn(`Accepting ${waiting.branch} of ${waiting.author} in ${name}`);
		await refuseChoice(repository, waiting);
		// A merge does not wait for map services: only `show` asks them.
		const outcome = await reviewCommit(waiting.commit, async () => []);
		print(...changeLines(outcome));
		if (outcome.errors > 0 || outcome.outside.length > 0)
			throw new WrongError(
				"Not accepted: the problems must be corrected first, and a review may change layers only",
			);
		// `acceptReview` says of a conflict what to do.
		if (outcome.obstacle !== null && outcome.obstacle !== conflictObstacle)
			throw new WrongError(`Not accepted: ${outcome.obstacle}`);
	}
	if (shown === undefined) await confirmMerge(chosen, io);
	let code: number = exitCodes.done;
	for (const waiting of chosen) {
		try {
			const merge = await acceptReview(repository, waiting, reviewer);
			print(`Accepted: ${merge.slice(0, 12)} is on the branch main`);
		} catch (error) {
			if (chosen.length === 1 || !(error instanceof WrongError)) throw error;
			// The others are merged all the same.
			warn(error.message);
			code = exitCodes.wrong;
		}
	}
	return code;
}

async function decline(session: Session, key: string, options: Choice & { why?: string }) {
	const reason = parseReason(needed("--why", options.why));
	const reviewer = parseReviewer(options.by);
	const { repository, name } = await open(session, options.repo, true);
	const chosen = await choosePart(repository, await findWaiting(repository, key), options.only);
	session.warn(`Declining ${chosen.branch} of ${chosen.author} in ${name}`);
	const branch = await declineReview(repository, chosen, reviewer, reason);
	session.print(`Declined; the change is kept on the branch ${branch}`);
	return exitCodes.done;
}

export const run = createRun("review", async ({ read, environment, io }) => {
	let code: number = exitCodes.done;
	const session: Session = {
		environment,
		io,
		print(...lines) {
			for (const line of lines) io.print(plain(line));
		},
		warn: (text) => io.warn(plain(text)),
	};
	const doing =
		<Args extends unknown[]>(task: (session: Session, ...args: Args) => Promise<number>) =>
		async (...args: Args) => {
			code = await task(session, ...args);
		};
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
			.action(doing(compare));
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

		verb("list", "list the changes that wait for a reviewer").action(doing(list));
		verb("show", "show what a change does for viewers, what is wrong or odd, and who asked for it")
			.argument("<key>", keyText)
			.action(doing(show));
		verb("accept", "merge changes; without --commit they are shown, and a question asked first")
			.argument(
				"<reviews...>",
				"keys, globs of keys, names of reviews, or branches such as register/my-layer",
			)
			.option("--commit <id>", "the commit that was shown: another one is not merged")
			.option("--by <name>", "who accepts it (who is logged in)")
			.option(...onlyOption)
			.action(doing(accept));
		verb("decline", "reject a change; the publisher reads the reason in the status of the layer")
			.argument("<key>", keyText)
			.option("--why <text>", "needed: the reason, one line")
			.option("--by <name>", "who declines it (who is logged in)")
			.option(...onlyOption)
			.action(doing(decline));
		return line;
	});
	return code;
});
