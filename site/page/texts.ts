import { mondayOf } from "../../registry/health.ts";
import { type Lang, parseLang } from "../../registry/smallkey.ts";
import { translator } from "../text/translate.ts";

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

const french = lang === "fr" ? (await import("../text/french.ts")).french : null;
export const texts = translator(french);
export const { t, plural, layers, named, dayText, stateText, typeText } = texts;

/** The first day of a week, in words: `February 23, 2026`. @param week in ISO 8601, such as `2026-W09` */
export function weekText(week: string): string {
	return dayText(new Date(mondayOf(week)));
}
