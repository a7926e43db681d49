import { dataOf, isAnswered } from "../store/github/refusal.ts";
import type { Github } from "../store/github/routes.ts";
import { fittingLabels, labels } from "./labels.ts";
import { isOfRepository, isOwnBranch, listAll, type OpenPull } from "./pulls.ts";

/**
 * Gives a pull request the labels that fit it, and takes those of ours that do not; all others are left alone.
 * @returns the names of those that it has now
 */
export async function labelPull(github: Github, pull: OpenPull): Promise<string[]> {
	const { rest, repo, paginate } = github;
	const { number } = pull;
	const about = { ...repo, per_page: 100 };
	const [files, present] = await Promise.all([
		listAll(paginate(rest.pulls.listFiles, { ...about, pull_number: number }), "list the changed files"),
		listAll(paginate(rest.issues.listLabelsOnIssue, { ...about, issue_number: number }), "list the labels"),
	]);
	const isOwn = isOfRepository(github, pull) && isOwnBranch(pull.head.ref);
	const fitting = fittingLabels(files, isOwn);
	const has = new Set(present.map(({ name }) => name));
	const missing = [...fitting].filter((name) => !has.has(name));
	const issue = { ...repo, issue_number: number };
	if (missing.length > 0) await dataOf(rest.issues.addLabels({ ...issue, labels: missing }), "label it");
	for (const { name } of Object.values(labels)) {
		if (fitting.has(name) || !has.has(name)) continue;
		await rest.issues.removeLabel({ ...issue, name }).catch((error: unknown) => {
			// It has been removed meanwhile.
			if (!isAnswered(error)) throw error;
		});
	}
	return [...fitting];
}
