import { pageTexts } from "./page-texts.ts";

// The causes of sickness are loaded with the texts of pages.
export { frenchCauses as causes } from "../../registry/texts/french-causes.ts";
export const texts = pageTexts.fr;
