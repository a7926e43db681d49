import type { Review as WaitingReview } from "../../api/service/repository.ts";
import type { Io } from "../../registry/environment.ts";
import { WrongError } from "../../registry/environment.ts";
import { runGit } from "../../store/git/commands/run.ts";
import { repairBranch } from "../../store/store.ts";
import { conflictObstacle } from "./decide.ts";
import { changeLines } from "./report.ts";
import type { CheckServices, Review } from "./review.ts";

/** Whether a repair leaves the choice between several places to a person: its commit changes nothing. */
async function isChoice(repository: string, { branch, commit }: { branch: string; commit: string }) {
	if (!branch.startsWith(repairBranch(""))) return false;
	return (await runGit(repository, ["diff", "--name-only", `${commit}^`, commit])).length === 0;
}

/** @throws {WrongError} unless the newest commit of a review is the one that was shown */
export async function checkShown(
	repository: string,
	branch: string,
	commit: string,
	shown: string,
): Promise<void> {
	if (commit.startsWith(shown)) return;
	const what = await runGit(repository, ["cat-file", "-e", `${shown}^{commit}`]).then(
		() => `has changed since ${shown} was shown`,
		() => `there is no commit ${shown}`,
	);
	throw new WrongError(`${branch}: ${what}: npx fragment-publisher review show ${branch}`);
}

/** Shows what a review would change. @throws {WrongError} if it must not be merged */
export async function checkAcceptable(
	repository: string,
	waiting: WaitingReview,
	reviewCommit: (head: string, check: CheckServices) => Promise<Review>,
	io: Io,
): Promise<void> {
	const { branch, commit } = waiting;
	if (await isChoice(repository, waiting))
		throw new WrongError(
			`${branch}: several places agree alike, and nothing is chosen: register the one that is right (npx fragment-publisher review show ${branch} lists them); the proposal is then withdrawn`,
		);
	// A merge does not wait for map services: only `show` asks them.
	const outcome = await reviewCommit(commit, async () => ({ findings: [] }));
	for (const text of changeLines(outcome)) io.print(text);
	if (outcome.problems.length > 0 || outcome.outside.length > 0)
		throw new WrongError(
			"Not accepted: the problems must be corrected first, and a review may change layers only",
		);
	// A conflict has a sentence of its own, with what to do.
	if (outcome.obstacle !== null && outcome.obstacle !== conflictObstacle)
		throw new WrongError(`Not accepted: ${outcome.obstacle}`);
}

/** Asks whether to merge the changes that were shown. @throws {Error} if the answer is not yes */
export async function confirmMerge(reviews: readonly WaitingReview[], io: Io): Promise<void> {
	const [first, second] = reviews;
	const answer = await io.ask(
		second ? `Merge these ${reviews.length} reviews? [y/N] ` : "Merge this? [y/N] ",
	);
	if (answer === null && second) throw new Error("to merge several reviews, a terminal is needed");
	if (answer === null)
		throw new Error(`--commit ${first?.commit.slice(0, 12)}: is needed to merge this without a terminal`);
	if (!/^y(?:es)?$/i.test(answer)) throw new WrongError("Not accepted: nothing was merged");
}
