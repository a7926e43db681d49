import type { Lang } from "./smallkey.ts";

export function isSenderId(id: string): boolean {
	return /^[A-Za-z0-9._-]{1,64}$/.test(id);
}

/** A review becomes a branch (git-check-ref-format(1)). */
export function isReviewName(name: string): boolean {
	return isSenderId(name) && !/^\.|\.\.|\.$|\.lock$/.test(name);
}

export type PublicName = string | Readonly<Record<Lang, string>>;
