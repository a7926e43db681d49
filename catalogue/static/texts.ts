import { langs } from "../../registry/smallkey.ts";
import { french } from "../../site/text/french.ts";
import { type Text, translator } from "../../site/text/translate.ts";

/** The texts of pages, by language. */
export const textsIn = { en: translator(null), fr: translator(french) };

/** A text in both languages, for what exists only once. */
export function inBoth(text: Text): string {
	return langs.map((lang) => textsIn[lang].t(text)).join(" · ");
}
