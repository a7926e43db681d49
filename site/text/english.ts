import { pageTexts } from "./page-texts.ts";

// The causes of sickness are loaded with the texts of pages.
export { englishCauses as causes } from "../../registry/texts/english-causes.ts";
export const texts = pageTexts.en;
