import type { Lang } from "../../registry/smallkey.ts";

const dayMs = 86_400_000;

/**
 * The day on which a week begins, in words.
 * @param week as ISO 8601 writes it, `2026-W09`: `February 23, 2026`; another text stays as it is
 */
export function weekText(lang: Lang, week: string): string {
	const [, year, number] = /^(\d{4})-W(\d{2})$/.exec(week) ?? [];
	if (year === undefined || number === undefined) return week;
	// The week of January 4 is the first (ISO 8601, 3.1.1.23); weeks begin on Monday.
	const fourth = Date.UTC(Number(year), 0, 4);
	const firstMonday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * dayMs;
	return dayText(lang, new Date(firstMonday + (Number(number) - 1) * 7 * dayMs));
}

/** A day in words: `March 4, 2026`, `4 mars 2026`. */
export function dayText(lang: Lang, day: Date): string {
	return day.toLocaleDateString(`${lang}-CA`, { dateStyle: "long", timeZone: "UTC" });
}
