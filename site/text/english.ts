import { causes as allCauses } from "./causes.ts";
import { pageTexts } from "./page-texts.ts";

export const causes = allCauses.en;
export const texts = pageTexts.en;
