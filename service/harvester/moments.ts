/** Whether a layer becomes due between two times. Its moment in the period depends on a hash of its smallkey. */
export function isDue(smallkey: string, since: number, until: number, periodMs: number): boolean {
	const moment = momentOf(smallkey, periodMs);
	return Math.floor((until - moment) / periodMs) > Math.floor((since - moment) / periodMs);
}

/** When a layer is next due, in milliseconds since 1970. */
export function nextMoment(smallkey: string, now: number, periodMs: number): number {
	const moment = momentOf(smallkey, periodMs);
	return Math.ceil((Math.floor((now - moment) / periodMs) + 1) * periodMs + moment);
}

/** Interval between two looks for due layers, in milliseconds: a minute, less in a short period. */
export function lookInterval(periodMs: number): number {
	return Math.max(Math.min(60_000, periodMs / 100), 10);
}

function momentOf(smallkey: string, periodMs: number): number {
	return (hashOf(smallkey) / 2 ** 32) * periodMs;
}

/** FNV-1a of 32 bits (RFC 9923). */
function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index += 1) {
		hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	}
	return hash >>> 0;
}
