import { lang, pageTexts } from "../page/page.ts";
import { translator } from "../text/translate.ts";

const mapTexts =
	lang === "fr"
		? (await import("../text/french-maps.ts")).frenchMaps
		: (await import("../text/english-maps.ts")).englishMaps;

export const { t, plural } = translator(lang, { ...pageTexts, ...mapTexts });
