import type { Lang } from "../../registry/smallkey.ts";
import { frenchOf } from "../../registry/texts.ts";
import { type Child, h } from "../page/dom.ts";
import type { Texts } from "../text/english.ts";

/** A problem or a warning of a registration: where it is, and what is wrong. */
export interface PlacedProblem {
	/** JSON pointer (RFC 6901); empty for the whole document. */
	pointer: string;
	text: string;
	/** Language of the text: English where there is no French one. */
	lang: Lang;
}

/** A problem in the words of the API, `<pointer>: <rule>` or `the document <rule>`, in a language of the pages. */
export function placedProblem(problem: string, lang: Lang): PlacedProblem {
	const [, pointer = "", rule = problem] = /^(\/.*?): (.*)$/s.exec(problem) ?? [];
	const french = lang === "fr" ? frenchOf(rule) : null;
	return french === null ? { pointer, text: rule, lang: "en" } : { pointer, text: french, lang };
}

/** Problems with their places, each in its own language; null where there are none. */
export function problemList(texts: Texts, problems: readonly PlacedProblem[]): Child {
	const item = ({ pointer, text, lang }: PlacedProblem) => {
		const place = pointer !== "" && [h("code", {}, pointer), `${texts.colon} `];
		return h("li", {}, ...(place || []), h("span", { lang }, text));
	};
	return problems.length === 0 ? null : h("ul", {}, problems.map(item));
}
