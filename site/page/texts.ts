import { translator } from "../text/translate.ts";
import { lang } from "./document.ts";

export { lang };

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
