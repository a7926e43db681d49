import { GitFailure, runGit } from "../git/run.ts";
import { type FoundRepository, servedRef } from "../service/find-repository.ts";
import { WrongError } from "../terminal/command-line.ts";
import type { WaitingReview } from "./waiting.ts";

/** How often a merge is tried again while others move the branch. */
const maxAttempts = 5;

/** Who decides: a name, which the commit has. */
export interface Reviewer {
	name: string;
	mail: string;
}

/** What a reviewer's name may be: it becomes a line of a commit. */
const reviewerPattern = /^[^\p{Cc}<>]{1,100}$/u;

/** @throws {Error} where a commit cannot have a name */
export function parseReviewer(name: string): Reviewer {
	if (!reviewerPattern.test(name))
		throw new Error("--by: must be a name of 1 to 100 characters without < and >");
	const local = name.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-");
	return { name, mail: `${local || "reviewer"}@reviewer.invalid` };
}

/** @throws {Error} where the repository has a checkout: its reviews are pull requests */
export async function refuseCheckout({ path, name }: FoundRepository): Promise<void> {
	const output = await runGit(path, ["rev-parse", "--is-bare-repository"]);
	if (output.toString("latin1").trim() === "true") return;
	throw new Error(`${name}: is no repository of a service; a pull request is merged where it was opened`);
}

/**
 * Merges a review into the served branch; a running service takes that in at once.
 * @returns the merge
 * @throws {WrongError} where the branch has changed the same since
 */
export async function acceptReview(
	repository: string,
	review: WaitingReview,
	reviewer: Reviewer,
): Promise<string> {
	for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
		const base = await resolve(repository, servedRef);
		const tree = await mergeTrees(repository, base, review);
		const subject = `accept ${review.branch}`;
		const parents = ["-p", base, "-p", review.commit];
		const merge = await text(repository, [
			...identity(reviewer),
			"commit-tree",
			tree,
			...parents,
			"-m",
			subject,
		]);
		const moved = await runGit(repository, ["update-ref", "-m", subject, servedRef, merge, base]).then(
			() => true,
			() => false,
		);
		if (!moved) continue;
		// Merged as it is: what a sender adds meanwhile is on the branch, and waits.
		await runGit(repository, ["update-ref", "-d", `refs/heads/${review.branch}`, review.commit]).catch(
			() => undefined,
		);
		return merge;
	}
	throw new Error("others keep moving the branch main: try again");
}

/**
 * Takes a review off the list. What it was stays on a branch, with a last commit that says who declined it and why; a
 * clone brings it along.
 * @returns the branch: `declined/register/23ax5t/0123456789ab`
 */
export async function declineReview(
	repository: string,
	{ branch, commit }: WaitingReview,
	reviewer: Reviewer,
	reason: string,
): Promise<string> {
	const declined = `declined/${branch}/${commit.slice(0, 12)}`;
	const words = ["-p", commit, "-m", `decline ${branch}`, "-m", reason];
	const last = await text(repository, [...identity(reviewer), "commit-tree", `${commit}^{tree}`, ...words]);
	await runGit(repository, ["update-ref", `refs/heads/${declined}`, last]);
	await runGit(repository, ["update-ref", "-d", `refs/heads/${branch}`, commit]).catch(() => {
		throw new Error(`${branch}: its sender has changed it meanwhile: look at it again`);
	});
	return declined;
}

/** The tree of both branches together. */
async function mergeTrees(
	repository: string,
	base: string,
	{ branch, commit }: WaitingReview,
): Promise<string> {
	try {
		return (
			(await text(repository, ["merge-tree", "--write-tree", "--no-messages", base, commit])).split(
				"\n",
			)[0] ?? ""
		);
	} catch (error) {
		if (!(error instanceof GitFailure) || /usage|unknown option/.test(error.message)) {
			throw new Error("git: must be 2.38 or newer to merge a review", { cause: error });
		}
		throw new WrongError(
			`${branch}: the branch main has changed the same layer since. Decline it, and ask the sender to send it again`,
		);
	}
}

function identity({ name, mail }: Reviewer): string[] {
	return ["-c", `user.name=${name}`, "-c", `user.email=${mail}`];
}

async function resolve(repository: string, ref: string): Promise<string> {
	return text(repository, ["rev-parse", "--verify", "--end-of-options", ref]);
}

async function text(repository: string, args: string[]): Promise<string> {
	return (await runGit(repository, args)).toString("utf8").trim();
}
