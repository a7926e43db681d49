import type { Lang } from "./smallkey.ts";

/** How far a timestamp may be from the server's clock, exclusive, in milliseconds (specification, "Limits"). */
export const maxClockSkewMs = 120_000;

/**
 * ISO 8601 date and time as the older service reads it (iso8601 0.1.12): `T` or a space; the seconds may be missing, since
 * Java writes none where they are zero; a fraction of 1 to 9 digits; `Z`, an offset (`-05:00`, `-0500`, `-05`) or nothing.
 */
const timestampPattern =
	/^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,9})?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** Parses a `TimeStamp` header into milliseconds since 1970, with its fraction; null for anything else. */
export function parseTimestamp(text: string): number | null {
	const match = timestampPattern.exec(text);
	if (!match) return null;
	const [, date, minute, second = ":00", fraction = 0, sign, hours = 0, minutes = 0] = match;
	const local = `${date}T${minute}${second}`;
	const localMs = Date.parse(`${local}Z`);
	if (Number.isNaN(localMs) || !new Date(localMs).toISOString().startsWith(local)) return null;
	const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000;
	return localMs + Number(fraction) * 1000 - (sign === "-" ? -offsetMs : offsetMs);
}

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
