import type { Meta } from "./store.ts";

/** The branch that is served. */
export const servedBranch = "main";

/** `register` for senders, `repair` for proposed repairs. */
export const reviewFolders = ["register", "repair"] as const;

/** `declined/register/<smallkey>/<commit>` keeps a declined change. */
export const declinedFolder = "declined";

/**
 * No smallkey has a full stop, and neither the id of a sender nor the name of a review has a plus. Git has either a branch `a`
 * or a branch `a/b`.
 */
export function reviewBranch({ smallkey, author, reviewName }: Meta): string {
	// Git refuses a full stop at the start of a name, and two of them beside each other (git-check-ref-format(1)).
	const sender = author.replace(/(?<=^|\.)\./g, "+");
	if (reviewName !== undefined) return `register/${sender}+review.${reviewName}`;
	return `register/${smallkey ?? `${sender}.batch`}`;
}

/** Changes of one group go to one branch together: a review has one sender. Empty for the served branch. */
export function groupOf(meta: Meta): string {
	return meta.review ? `${reviewBranch(meta)} ${meta.author}` : "";
}

/** Whether a branch has a name of `reviewBranch` or `repairBranch`. */
export function isReviewBranch(branch: string): boolean {
	return /^(?:register|repair)\/[^/]+$/.test(branch);
}

export function repairBranch(smallkey: string): string {
	return `repair/${smallkey}`;
}
