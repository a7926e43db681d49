import { translator } from "../text/translate.ts";
import { lang } from "./document.ts";

export { lang };

const loaded = await (lang === "fr"
	? import("../text/french.ts").then(({ french, frenchCauses }) => ({ texts: french, causes: frenchCauses }))
	: import("../text/english.ts").then(({ english, englishCauses }) => {
			return { texts: english, causes: englishCauses };
		}));
export const pageTexts = loaded.texts;
export const texts = { ...translator(lang, pageTexts), causes: loaded.causes };
export const { t, plural, dayText, stateText, typeText, copyText } = texts;

export const layers = (number: number) => plural(number, "layer-count");
