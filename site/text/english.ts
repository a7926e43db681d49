import { causes as allCauses } from "../../registry/texts/causes.ts";
import { pageTexts } from "./page-texts.ts";

// The causes of sickness are loaded with the texts of pages.
export const causes = allCauses.en;
export const texts = pageTexts.en;
