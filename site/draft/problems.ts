import type { Lang } from "../../registry/smallkey.ts";
import { frenchOf } from "../../registry/texts.ts";

/** A problem or a warning of a registration: where it is, and what is wrong. */
export interface PlacedProblem {
	/** JSON pointer (RFC 6901); empty for the whole document. */
	pointer: string;
	text: string;
	/** Language of the text: English if there is no French text. */
	lang: Lang;
}

/** Parses a problem as the API writes it, `<pointer>: <rule>` or `the document <rule>`, and translates the rule. */
export function placedProblem(problem: string, lang: Lang): PlacedProblem {
	const [, pointer = "", rule = problem] = /^(\/.*?): (.*)$/s.exec(problem) ?? [];
	const french = lang === "fr" ? frenchOf(rule) : null;
	return french === null ? { pointer, text: rule, lang: "en" } : { pointer, text: french, lang };
}
