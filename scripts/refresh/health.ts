import { parseSmallkey } from "../../registry/smallkey.ts";

/** Where the weeks are counted that services have failed: in the repository, so that each run can go on counting. */
export const healthPath = "layers/health.json";

/** Weeks after which a service that fails is named. */
export const namedAfter = 3;

/** Which layers' services fail, and for how many weeks in a row. */
export interface Health {
	/** The week of the last count, such as `2026-W09`; `""` before the first. */
	week: string;
	/** Smallkey → weeks, at least 1. */
	failing: ReadonlyMap<string, number>;
}

/** Nothing fails. */
export const healthy: Health = { week: "", failing: new Map() };

/** Reads `layers/health.json`; what is not as it was written counts as nothing. */
export function parseHealth(text: string | null): Health {
	try {
		const { week, failing } = JSON.parse(text ?? "") as { week: unknown; failing: Record<string, unknown> };
		if (typeof week !== "string") return healthy;
		const known = Object.entries(failing).filter((entry): entry is [string, number] => {
			return parseSmallkey(entry[0]) !== null && Number.isSafeInteger(entry[1]) && (entry[1] as number) > 0;
		});
		return { week, failing: new Map(known) };
	} catch {
		return healthy;
	}
}

/** The one form in which it is written; null where nothing fails, and there is no file. */
export function healthText({ week, failing }: Health): string | null {
	if (failing.size === 0) return null;
	const sorted = [...failing].sort(([a], [b]) => (a < b ? -1 : 1));
	return `${JSON.stringify({ week, failing: Object.fromEntries(sorted) }, null, 2)}\n`;
}

/**
 * Counts one more week for each layer that fails still, and forgets the others. A second run in one week counts
 * nothing twice.
 */
export function countWeek(before: Health, failing: Iterable<string>, week: string): Health {
	const step = before.week === week ? 0 : 1;
	const counted = Array.from(failing, (smallkey) => {
		const weeks = before.failing.get(smallkey);
		return [smallkey, weeks === undefined ? 1 : weeks + step] as const;
	});
	return { week, failing: new Map(counted) };
}

/** The week of a moment, in UTC, as ISO 8601 counts them: `2026-W09`. */
export function weekOf(time: Date): string {
	const day = new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()));
	// A week belongs to the year of its Thursday.
	day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
	const start = Date.UTC(day.getUTCFullYear(), 0, 1);
	const week = Math.ceil(((day.getTime() - start) / 86_400_000 + 1) / 7);
	return `${day.getUTCFullYear()}-W${String(week).padStart(2, "0")}`;
}
