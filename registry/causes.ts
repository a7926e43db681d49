import type { Lang } from "./smallkey.ts";
import { englishCauses } from "./texts/english-causes.ts";
import { type Coded, filled } from "./texts/filled.ts";
import { frenchCauses } from "./texts/french-causes.ts";

export type CauseCode = keyof typeof englishCauses;

export type CauseTexts = Readonly<Record<CauseCode, string>>;

export const causes: Readonly<Record<Lang, CauseTexts>> = { en: englishCauses, fr: frenchCauses };

/** Why a layer cannot be shown. */
export type Cause = Coded<CauseCode>;

export function causeOf(code: CauseCode, ...values: Cause["values"]): Cause {
	return { code, values };
}

export function causeText(lang: Lang, cause: Cause): string {
	return filled(causes[lang], cause);
}
