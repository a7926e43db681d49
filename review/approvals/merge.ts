import { dataOf, type Github } from "../../store/github/answer.ts";
import { findCheckRun, type ListedCheckRun } from "../post.ts";
import { isOfRepository, isReviewBranch, type OpenPull } from "../pulls.ts";
import type { Judgement } from "./judge.ts";

/** Conclusions that GitHub accepts for a required check. */
const passed = new Set(["success", "skipped", "neutral"]);

/**
 * Merges a pull request from `register/*` or `repair/*` that the owners have approved, so that no one with write access
 * has to press a button. The App can bypass the ruleset, so this function checks what the ruleset requires: `layers`,
 * which only this App sets, and `check`, which CI sets.
 * @param runs the check runs of the newest commit
 * @returns whether it was merged
 * @throws {Error} if GitHub refuses, such as for a newer commit
 */
export async function mergeApproved(
	github: Github,
	pull: OpenPull,
	{ state, groups }: Judgement,
	runs: readonly ListedCheckRun[],
	author: string,
): Promise<boolean> {
	const { rest, repo } = github;
	const isOwn = isOfRepository(github, pull) && isReviewBranch(pull.head.ref);
	const isApproved = state === "success" && groups.length > 0;
	const isInOrder = findCheckRun(runs, "layers", author)?.conclusion === "success";
	const checks = runs.filter(({ name, app }) => name === "check" && app?.slug === "github-actions");
	const hasPassed = checks.length > 0 && checks.every(({ conclusion }) => passed.has(conclusion ?? ""));
	if (!isOwn || !isApproved || !isInOrder || !hasPassed) return false;
	// GitHub refuses this if the branch has a newer commit.
	const request = rest.pulls.merge({ ...repo, pull_number: pull.number, sha: pull.head.sha });
	await dataOf<unknown>(request, "merge the pull request");
	return true;
}
