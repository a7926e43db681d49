/** How far a timestamp may be from the server's clock, exclusive, in milliseconds (specification, "Limits"). */
export const maxClockSkewMs = 120_000;

/** ISO 8601 date and time in UTC: an optional fraction of 1 to 9 digits, then `Z`, `+00:00` or nothing. */
const timestampPattern = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:Z|\+00:00)?$/;

/** Parses a `TimeStamp` header into milliseconds since 1970, with its fraction; null for anything else. */
export function parseTimestamp(text: string): number | null {
	const match = timestampPattern.exec(text);
	if (!match?.[1]) return null;
	const seconds = Date.parse(`${match[1]}Z`);
	if (Number.isNaN(seconds) || !new Date(seconds).toISOString().startsWith(match[1])) return null;
	return seconds + Number(match[2] ?? 0) * 1000;
}
