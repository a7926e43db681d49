import type { Lang } from "./smallkey.ts";

/** Exclusive (specification, "Limits"). */
export const maxClockSkewMs = 120_000;

/**
 * ISO 8601 as the older service reads it (iso8601 0.1.12): `T` or a space; optional seconds, since Java
 * writes none where they are zero; a fraction of 1 to 9 digits; `Z`, an offset (`-05:00`, `-0500`, `-05`) or
 * nothing.
 */
const timestampPattern =
	/^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,9})?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** A `TimeStamp` header in milliseconds since 1970, with its fraction; null for anything else. */
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

/** Ids become part of commits. */
export function isSenderId(id: string): boolean {
	return senderPattern.test(id);
}

/** Of these characters, what git refuses in a branch's name (git-check-ref-format(1)). */
const noBranchPart = /^\.|\.\.|\.$|\.lock$/;

/** A sender's changes wait under this name on one branch. */
export function isReviewName(name: string): boolean {
	return senderPattern.test(name) && !noBranchPart.test(name);
}

export type PublicName = string | Readonly<Record<Lang, string>>;
