import { mondayOf } from "../../registry/health.ts";
import { type Lang, parseLang } from "../../registry/smallkey.ts";
import { translator } from "../text/translate.ts";

export const lang: Lang = parseLang(document.documentElement.lang) ?? "en";

/** The texts of the page's language, which alone is loaded. */
const loaded = await (lang === "fr"
	? import("../text/french.ts").then(({ french, frenchCauses }) => ({ own: french, causes: frenchCauses }))
	: import("../text/english.ts").then(({ english, englishCauses }) => {
			return { own: english, causes: englishCauses };
		}));
export const pageTexts = loaded.own;
export const texts = { ...translator(lang, pageTexts), causes: loaded.causes };
export const { t, plural, dayText, stateText, typeText, copyText } = texts;

/** `1 layer`, `2 layers` */
export const layers = (number: number) => plural(number, "layer-count");

/** The first day of a week, in words: `February 23, 2026`. @param week in ISO 8601, such as `2026-W09` */
export function weekText(week: string): string {
	return dayText(new Date(mondayOf(week)));
}
