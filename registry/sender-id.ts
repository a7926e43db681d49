import type { Lang } from "./smallkey.ts";

const senderPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether a text can be a sender's id: 1 to 64 of `A-Z a-z 0-9 . _ -`, because ids become part of commits. */
export function isSenderId(id: string): boolean {
	return senderPattern.test(id);
}

/** What git refuses in a branch's name (git-check-ref-format(1)), of these characters: two dots, a dot at an end, `.lock` at the end. */
const noBranchPart = /^\.|\.\.|\.$|\.lock$/;

/**
 * Whether a text can be the name of a review, under which a sender's changes wait on one branch: 1 to 64 of
 * `A-Z a-z 0-9 . _ -`, which git accepts in the name of a branch.
 */
export function isReviewName(name: string): boolean {
	return senderPattern.test(name) && !noBranchPart.test(name);
}

/** Public name of a sender: one text for both languages, or one for each. */
export type PublicName = string | Readonly<Record<Lang, string>>;
