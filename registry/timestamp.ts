/** A timestamp must differ by less (RCS specification, "Limits"). */
export const maxClockSkewMs = 120_000;

/**
 * ISO 8601 as the older service reads it (iso8601 0.1.12): `T` or a space; optional seconds, which Java
 * leaves out when zero; a fraction; `Z`, an offset or nothing.
 */
const timestampPattern =
	/^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,9})?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?$/;

/** In milliseconds since 1970, with a fraction; null if it is no timestamp. */
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
