import { userInfo } from "node:os";
import { join } from "node:path";
import { trailersOf } from "../../git/commits.ts";
import { runGit } from "../../git/run.ts";
import { readPicturePairs } from "../../prove/proposed.ts";
import { repairedTrailer } from "../../repair/branches.ts";
import { proposalLines } from "../../review/audit/audit.ts";
import { renderComment } from "../../review/comment.ts";
import {
	acceptReview,
	declineReview,
	parseReason,
	parseReviewer,
	refuseOthers,
} from "../../review/decide.ts";
import { changeLines, summaryLine } from "../../review/report.ts";
import { type CheckServices, createCheckServices, isWrong, review } from "../../review/review.ts";
import { reviewLine } from "../../review/status.ts";
import { findRepository, findWaiting, readReviews, servedRef } from "../../service/repository.ts";
import { type Environment, readConfiguration, withoutStore } from "../../service/settings.ts";
import { repairBranch } from "../../store/store.ts";
import { exitCodes, needed, WrongError } from "../../terminal/command-line.ts";
import { type Io, printError, printLine } from "../../terminal/io.ts";
import { plain } from "../../terminal/plain.ts";

/** Finds the repository of a service, and reads the settings of this machine. */
async function open(repo: string | undefined, environment: Environment) {
	const settings = readConfiguration(withoutStore(environment));
	return { settings, found: await findRepository(repo, settings.dataDir) };
}

type Opened = Awaited<ReturnType<typeof open>>;

function reviewCommit({ settings, found }: Opened, commit: string, check: CheckServices) {
	const { publicUrl } = settings;
	return review({ repository: found.path, base: servedRef, head: commit, settings, publicUrl, check });
}

/** npx fragments review list. @returns exit code */
export async function list(repo: string | undefined, environment: Environment, io: Io): Promise<number> {
	const { found } = await open(repo, environment);
	const waiting = await readReviews(found.path, "waiting");
	for (const one of waiting) printLine(io, plain(reviewLine(one)));
	if (waiting.length === 0) printError(io, `no review waits in ${found.name}`);
	return exitCodes.done;
}

/** npx fragments review show. @returns exit code */
export async function show(
	key: string,
	{ repo, markdown }: { repo: string | undefined; markdown: boolean },
	environment: Environment,
	io: Io,
): Promise<number> {
	const opened = await open(repo, environment);
	const { branch, commit } = await findWaiting(opened.found.path, key);
	const outcome = await reviewCommit(opened, commit, createCheckServices(opened.settings.harvest));
	const text = [
		`${branch} at commit ${commit}`,
		...(await proposalLines(opened.found.path, commit)),
		...(branch.startsWith(repairBranch("")) ? await repairLines(opened, commit) : []),
		...changeLines(outcome),
		summaryLine(outcome),
		`To merge exactly this: npx fragments review accept ${branch} --commit ${commit.slice(0, 12)}`,
		`To decline it: npx fragments review decline ${branch} --why "the reason"`,
	];
	for (const line of markdown ? [renderComment(outcome).trimEnd()] : text.map(plain)) printLine(io, line);
	return isWrong(outcome) ? exitCodes.wrong : exitCodes.done;
}

/** The evidence of a repair, from its commit's message, and the paths of its pictures. */
async function repairLines({ settings, found }: Opened, commit: string): Promise<string[]> {
	const { pictures } = settings;
	const message = (await runGit(found.path, ["log", "-1", "--format=%b", commit])).toString("utf8");
	const pairOf = await readPicturePairs(pictures);
	const lines = trailersOf(`\n\n${message}`, repairedTrailer).flatMap((smallkey) => {
		const { before, after } = pairOf(smallkey);
		return [
			`Picture of ${smallkey} as it was last drawn: ${before ? join(pictures, before) : "none"}`,
			`Picture of ${smallkey} after the repair: ${after ? join(pictures, after) : `none yet; npx fragments prove --repo ${found.path} --proposed`}`,
		];
	});
	return [...message.trim().split("\n"), ...lines];
}

interface DecideOptions {
	repo?: string | undefined;
	by?: string | undefined;
	commit?: string | undefined;
	why?: string | undefined;
}

/** npx fragments review accept. @returns exit code */
export async function accept(
	key: string,
	{ repo, by = userInfo().username, commit }: DecideOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const reviewer = parseReviewer(by);
	if (commit !== undefined && !/^[0-9a-f]{7,64}$/.test(commit))
		throw new Error("--commit: must be an id as npx fragments review show prints it");
	const opened = await open(repo, environment);
	await refuseOthers(opened.found);
	const waiting = await findWaiting(opened.found.path, key);
	const { branch, author } = waiting;
	if (commit !== undefined && !waiting.commit.startsWith(commit)) {
		const isKnown = await runGit(opened.found.path, ["cat-file", "-e", `${commit}^{commit}`]).then(
			() => true,
			() => false,
		);
		const what = isKnown ? `has changed since ${commit} was shown` : `there is no commit ${commit}`;
		throw new WrongError(`${branch}: ${what}: npx fragments review show ${branch}`);
	}
	printError(io, plain(`Accepting ${branch} of ${author} in ${opened.found.name}`));
	// A merge does not wait for map services: only `show` asks them.
	const outcome = await reviewCommit(opened, waiting.commit, async () => ({ findings: [] }));
	for (const line of changeLines(outcome)) printLine(io, line);
	if (outcome.problems.length > 0 || outcome.outside.length > 0)
		throw new WrongError(
			"Not accepted: the problems must be corrected first, and a review may change layers only",
		);
	if (commit === undefined) await confirmMerge(waiting.commit, io);
	const merge = await acceptReview(opened.found.path, waiting, reviewer);
	printLine(io, `Accepted: ${merge.slice(0, 12)} is on the branch main`);
	return exitCodes.done;
}

/** Asks whether to merge the change that was shown. @throws {Error} if the answer is not yes */
async function confirmMerge(commit: string, io: Io): Promise<void> {
	const answer = await io.ask("Merge this? [y/N] ");
	if (answer === null)
		throw new Error(`--commit ${commit.slice(0, 12)}: is needed to merge this without a terminal`);
	if (!/^y(?:es)?$/i.test(answer)) throw new WrongError("Not accepted: nothing was merged");
}

/** npx fragments review decline. @returns exit code */
export async function decline(
	key: string,
	{ repo, by = userInfo().username, why }: DecideOptions,
	environment: Environment,
	io: Io,
): Promise<number> {
	const reason = parseReason(needed("--why", why));
	const reviewer = parseReviewer(by);
	const { found } = await open(repo, environment);
	await refuseOthers(found);
	const waiting = await findWaiting(found.path, key);
	printError(io, plain(`Declining ${waiting.branch} of ${waiting.author} in ${found.name}`));
	const branch = await declineReview(found.path, waiting, reviewer, reason);
	printLine(io, plain(`Declined; the change is kept on the branch ${branch}`));
	return exitCodes.done;
}
