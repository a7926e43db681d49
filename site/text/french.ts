import { causes as allCauses } from "../../registry/texts/causes.ts";
import { pageTexts } from "./page-texts.ts";

export const causes = allCauses.fr;
export const texts = pageTexts.fr;
