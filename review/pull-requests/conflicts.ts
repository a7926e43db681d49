import { dataOf } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";
import { isOwnBranch } from "../label-pull.ts";
import { findComment, writeComment } from "../post.ts";
import { type OpenPull, rebuild } from "./rebuild.ts";

/** The line that a comment on a conflict starts with, by which it is found again; GitHub does not show it. */
const marker = "<!-- fragment-publisher: conflict -->";

const isOver = `${marker}\nThe conflict is over.\n`;

function conflictText(base: string): string {
	return [
		marker,
		`### This cannot be merged: \`${base}\` has changed the same lines`,
		"",
		"GitHub runs no check of a pull request with a conflict, so the other comments are of an older state.",
		"",
		`**Next:** press *Resolve conflicts* below, or merge \`${base}\` into your branch, and push.`,
		"",
	].join("\n");
}

/** All open pull requests for a branch. */
export async function openPulls({ rest, repo, paginate }: Github, base: string): Promise<OpenPull[]> {
	const listed = paginate(rest.pulls.list, { ...repo, state: "open", base, per_page: 100 });
	return dataOf(
		listed.then((data) => ({ data })),
		"list the pull requests",
	);
}

/** How conflicts are dealt with. */
export interface ConflictOptions {
	/** The branch that they are for. */
	base: string;
	/** Login of who comments: nobody else's comments are touched. */
	author: string;
}

/**
 * Tells whoever has a pull request with a merge conflict, and builds those of the service anew.
 * @returns what was done, in words; null where there was nothing to do
 */
export async function resolveConflict(
	github: Github,
	pull: OpenPull,
	options: ConflictOptions,
): Promise<string | null> {
	const { rest, repo } = github;
	const { base, author } = options;
	const asked = rest.pulls.get({ ...repo, pull_number: pull.number });
	const { mergeable } = await dataOf(asked, "show the pull request");
	// GitHub is still finding out: the next run sees it.
	if (mergeable === null) return null;
	if (mergeable) {
		const told = await findComment(github, pull.number, marker, author);
		if (!told || told.body === isOver) return null;
		await writeComment(github, pull.number, { marker, text: isOver }, author);
		return "the conflict is over";
	}
	const isOwn =
		pull.head.repo?.full_name.toLowerCase() === `${repo.owner}/${repo.repo}`.toLowerCase() &&
		isOwnBranch(pull.head.ref);
	if (isOwn) return rebuildOwn(github, pull, base);
	const posted = await writeComment(github, pull.number, { marker, text: conflictText(base) }, author);
	return posted === "unchanged" ? null : "has a conflict, and its author is told";
}

async function rebuildOwn(github: Github, pull: OpenPull, base: string): Promise<string> {
	const { rest, repo } = github;
	if ((await rebuild(github, pull, base)) === "rebuilt")
		return `had a conflict, and is built anew on ${base}`;
	const closed = rest.pulls.update({ ...repo, pull_number: pull.number, state: "closed" });
	await dataOf(closed, "close the pull request");
	return `is closed: ${base} has all of it`;
}
