import { lang, pageTexts } from "../page/texts.ts";
import { translator } from "../text/translate.ts";

const own =
	lang === "fr"
		? (await import("../text/french-maps.ts")).frenchMaps
		: (await import("../text/english-maps.ts")).englishMaps;

/** The texts of maps in the page's language, beside those of every page. */
export const { t, plural } = translator(lang, { ...pageTexts, ...own });
