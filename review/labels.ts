import { parseLayerPath } from "../registry/smallkey.ts";
import { dataOf, type Github, isAnswered, listOf } from "../store/github/answer.ts";
import { isOfRepository, isOwnBranch, type OpenPull } from "./pulls.ts";

export interface Label {
	name: string;
	color: string;
	description: string;
}

/** Labels for what a pull request changes and for who opened it; a pull request gets all that fit. */
export const labels = {
	layer: { name: "layer", color: "0e8a16", description: "Adds or changes layers" },
	removal: { name: "removal", color: "d93f0b", description: "Removes layers" },
	code: { name: "code", color: "5319e7", description: "Changes files outside layers/" },
	service: { name: "service", color: "1d76db", description: "Opened by the service or its workflows" },
} as const satisfies Record<string, Label>;

/**
 * The labels that fit a pull request.
 * @param isOwn whether the service or a workflow opened it
 */
export function fittingLabels(
	files: readonly { filename: string; status: string }[],
	isOwn: boolean,
): Set<string> {
	const fitting = new Set<string>();
	for (const { filename, status } of files) {
		const name = filename.startsWith("layers/") ? parseLayerPath(filename) : null;
		if (!filename.startsWith("layers/")) fitting.add(labels.code.name);
		else if (name?.kind === "registration")
			fitting.add((status === "removed" ? labels.removal : labels.layer).name);
	}
	if (isOwn) fitting.add(labels.service.name);
	return fitting;
}

/**
 * Adds the labels that fit a pull request, and removes those of `labels` that do not; other labels stay.
 * @returns the names of the labels that fit
 */
export async function labelPull(github: Github, pull: OpenPull): Promise<string[]> {
	const { rest, repo, paginate } = github;
	const { number } = pull;
	const about = { ...repo, per_page: 100 };
	const [files, present] = await Promise.all([
		listOf(paginate(rest.pulls.listFiles, { ...about, pull_number: number }), "list the changed files"),
		listOf(paginate(rest.issues.listLabelsOnIssue, { ...about, issue_number: number }), "list the labels"),
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
			// Another run or a person has removed it.
			if (!isAnswered(error)) throw error;
		});
	}
	return [...fitting];
}
