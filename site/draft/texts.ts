import { lang, pageTexts } from "../page/page.ts";
import { draftTexts } from "../text/drafts.ts";
import { translator } from "../text/translate.ts";

export const { t, plural } = translator(lang, { ...pageTexts, ...draftTexts[lang] });
