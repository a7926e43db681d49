import { dataOf } from "../store/github/refusal.ts";
import type { Github } from "../store/github/routes.ts";

/** Pages of comments that are looked through for our own. */
const maxPages = 50;

export type Posted = "posted" | "edited" | "unchanged";

export interface Comment {
	id: number;
	body?: string | undefined;
}

/** The comments of a pull request that `author` wrote: a marker in a comment of anyone else means nothing. */
export async function readComments(
	{ rest, repo, paginate }: Github,
	number: number,
	author: string,
): Promise<Comment[]> {
	const parameters = { ...repo, issue_number: number, per_page: 100 };
	const found: Comment[] = [];
	let pages = 0;
	for await (const { data } of paginate.iterator(rest.issues.listComments, parameters)) {
		found.push(...data.filter(({ user }) => user?.login === author));
		pages += 1;
		if (pages === maxPages) break;
	}
	return found;
}

export function findComment(comments: readonly Comment[], marker: string): Comment | undefined {
	return comments.find(({ body }) => body?.startsWith(marker));
}

/**
 * Writes a comment, or edits the one with the same marker.
 * @param comments those of ours that are there
 */
export async function writeComment(
	{ rest, repo }: Github,
	number: number,
	{ marker, text }: { marker: string; text: string },
	comments: readonly Comment[],
): Promise<Posted> {
	const before = findComment(comments, marker);
	if (before?.body === text) return "unchanged";
	const written = before
		? rest.issues.updateComment({ ...repo, comment_id: before.id, body: text })
		: rest.issues.createComment({ ...repo, issue_number: number, body: text });
	await dataOf<unknown>(written, "write the comment");
	return before ? "edited" : "posted";
}
