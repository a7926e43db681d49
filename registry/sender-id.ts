import type { Lang } from "./smallkey.ts";

const senderPattern = /^[A-Za-z0-9._-]{1,64}$/;

/** Whether a text can be a sender's id: 1 to 64 of `A-Z a-z 0-9 . _ -`, because ids become part of commits. */
export function isSenderId(id: string): boolean {
	return senderPattern.test(id);
}

/** Public name of a sender: one text for both languages, or one for each. */
export type PublicName = string | Readonly<Record<Lang, string>>;
