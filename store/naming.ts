import type { Meta } from "./store.ts";

export const servedBranch = "main";

/** `register` for senders, `repair` for proposed repairs. */
export const reviewFolders = ["register", "repair"] as const;

/** `declined/register/<smallkey>/<commit>` keeps a declined change. */
export const declinedFolder = "declined";

/**
 * No smallkey has a full stop, and no sender or review name a plus. Git has either a branch `a` or a branch
 * `a/b`.
 */
export function reviewBranch({ smallkey, author, reviewName }: Meta): string {
	// Git refuses a full stop at the start, and two in a row (git-check-ref-format(1)).
	const sender = author.replace(/(?<=^|\.)\./g, "+");
	if (reviewName !== undefined) return `register/${sender}+review.${reviewName}`;
	return `register/${smallkey ?? `${sender}.batch`}`;
}

/** Changes of one group go to one branch together. Empty for the served branch. */
export function groupOf(meta: Meta): string {
	return meta.review ? `${reviewBranch(meta)} ${meta.author}` : "";
}

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

/** Null if no sender made the commit. */
export function authorOf(mail: string): string | null {
	return mail.endsWith(mailDomain) ? mail.slice(0, -mailDomain.length) : null;
}

/** The committer of every commit that the service makes, and of no other. */
export const serviceAuthor = "fragment-publisher";

export const serviceIdentity = `${serviceAuthor} <${/* @__PURE__ */ authorMail(serviceAuthor)}>`;

/** @param group all changes of the commit */
export function commitMessage(subject: string, group: readonly Meta[]): string {
	const trailers = group.flatMap(({ author, time, request }) => [
		...(author === serviceAuthor ? [] : [`Sender: ${author}`]),
		...(request === null ? [] : [`TimeStamp: ${new Date(time).toISOString()}`, `Request: ${request}`]),
	]);
	return [subject, ...(trailers.length > 0 ? ["", ...new Set(trailers)] : [])].join("\n");
}

/** In the commit of a declined change: the served commit at that time. */
export const mainTrailer = "Main";

/** In the commit of a proposed repair, for every layer. */
export const repairedTrailer = "Repairs";
