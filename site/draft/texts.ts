import { lang, pageTexts } from "../page/texts.ts";
import { translator } from "../text/translate.ts";

const own =
	lang === "fr"
		? (await import("../text/french-drafts.ts")).frenchDrafts
		: (await import("../text/english-drafts.ts")).englishDrafts;

/** The texts of drafts in the page's language, beside those of every page. */
export const { t, plural } = translator(lang, { ...pageTexts, ...own });
