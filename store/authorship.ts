import type { Meta } from "./store.ts";

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
