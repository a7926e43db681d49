import type { Lang } from "./smallkey.ts";

/** Exclusive (RCS specification, "Limits"). */
export const maxClockSkewMs = 120_000;

/**
 * ISO 8601 as the older service reads it (iso8601 0.1.12): `T` or a space; optional seconds, which Java
 * leaves out when zero; a fraction; `Z`, an offset or nothing.
 */
const timestampPattern =
	/^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,9})?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** In milliseconds since 1970, with a fraction. */
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

export function isSenderId(id: string): boolean {
	return /^[A-Za-z0-9._-]{1,64}$/.test(id);
}

/** git-check-ref-format(1) */
export function isReviewName(name: string): boolean {
	return isSenderId(name) && !/^\.|\.\.|\.$|\.lock$/.test(name);
}

export type PublicName = string | Readonly<Record<Lang, string>>;

/** `*` is any characters, `?` is one. A regular expression could take exponential time. */
export function matchesGlob(glob: string, smallkey: string): boolean {
	let [index, next, retry, afterStar] = [0, 0, 0, 0];
	while (index < smallkey.length) {
		if (glob[next] === "*") {
			next += 1;
			[retry, afterStar] = [index, next];
		} else if (glob[next] === "?" || glob[next] === smallkey[index]) {
			index += 1;
			next += 1;
		} else if (afterStar > 0) {
			// The last star takes one more.
			retry += 1;
			[index, next] = [retry, afterStar];
		} else return false;
	}
	return /^\**$/.test(glob.slice(next));
}

export function mayChange({ smallkeys }: { smallkeys: readonly string[] | null }, smallkey: string): boolean {
	return smallkeys?.some((glob) => matchesGlob(glob, smallkey)) ?? true;
}
