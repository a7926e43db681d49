import { causes as allCauses } from "./causes.ts";
import { pageTexts } from "./page-texts.ts";

export const causes = allCauses.fr;
export const texts = pageTexts.fr;
