import { mondayOf } from "../../registry/health.ts";
import type { Lang } from "../../registry/smallkey.ts";

/** The day on which a week begins, in words. @param week as ISO 8601 writes it, `2026-W09`: `February 23, 2026` */
export function weekText(lang: Lang, week: string): string {
	return dayText(lang, new Date(mondayOf(week)));
}

/** A day in words: `March 4, 2026`, `4 mars 2026`. */
export function dayText(lang: Lang, day: Date): string {
	return day.toLocaleDateString(`${lang}-CA`, { dateStyle: "long", timeZone: "UTC" });
}
