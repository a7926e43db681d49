import { repairTexts } from "../../extensions/repair/proposal.ts";
import { fragmentTexts } from "../../registry/texts/pairs.ts";
import { texts } from "../../registry/texts.ts";
import { causes } from "../../site/text/causes.ts";
import { draftTexts } from "../../site/text/drafts.ts";
import { pageTexts } from "../../site/text/page-texts.ts";
import { staticTexts } from "../../site/text/static.ts";

interface TextTable {
	name: string;
	en: Readonly<Record<string, string>>;
	fr: Readonly<Record<string, string>>;
}

export const textTables: readonly TextTable[] = [
	{ name: "refusals and reports", ...texts },
	{ name: "causes", ...causes },
	{ name: "fragments", ...fragmentTexts },
	{ name: "repairs", ...repairTexts },
	{ name: "pages", ...pageTexts },
	{ name: "drafts", ...draftTexts },
	{ name: "pages without a script", ...staticTexts },
];
