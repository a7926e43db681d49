import type { Meta } from "./store.ts";

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

/** A domain under `.invalid` never receives mail (RFC 2606). */
const mailDomain = "@sender.invalid";

export function authorMail(author: string): string {
	return `${author}${mailDomain}`;
}

/** @returns the sender in the mail of a commit; null if no sender made it */
export function authorOf(mail: string): string | null {
	return mail.endsWith(mailDomain) ? mail.slice(0, -mailDomain.length) : null;
}

/** The committer of every commit that the service makes, and of no other. */
export const serviceAuthor = "fragment-publisher";

export const serviceIdentity = `${serviceAuthor} <${/* @__PURE__ */ authorMail(serviceAuthor)}>`;

export function commitMessage(meta: Meta): string {
	const trailers = meta.trailers.map(([name, text]) => `${name}: ${text}`);
	return [meta.subject, ...(trailers.length > 0 ? ["", ...trailers] : [])].join("\n");
}

/** In the commit of a declined change: the commit of the served branch at that time. */
export const mainTrailer = "Main";

/** In the commit of a proposed repair, for every layer. */
export const repairedTrailer = "Repairs";
