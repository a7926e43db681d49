import type { Lang } from "./smallkey.ts";
import { englishCauses } from "./texts/english-causes.ts";
import { type Coded, filled } from "./texts/filled.ts";
import { frenchCauses } from "./texts/french-causes.ts";

export type CauseCode = keyof typeof englishCauses;

/** The texts of all causes in one language. */
export type CauseTexts = Readonly<Record<CauseCode, string>>;

export const causes: Readonly<Record<Lang, CauseTexts>> = { en: englishCauses, fr: frenchCauses };

/** Why a layer cannot be shown. */
export type Cause = Coded<CauseCode>;

export function causeOf(code: CauseCode, ...values: Cause["values"]): Cause {
	return { code, values };
}

/** A cause in one language: `answers with status 503`. */
export function causeText(lang: Lang, cause: Cause): string {
	return filled(causes[lang], cause);
}
