import { type Child, h } from "../page/dom.ts";
import type { PlacedProblem } from "../text/problems.ts";
import type { Texts } from "../text/texts.ts";

/** Problems with their places, each in its own language; null where there are none. */
export function problemList(texts: Texts, problems: readonly PlacedProblem[]): Child {
	const item = ({ pointer, text, lang }: PlacedProblem) => {
		const place = pointer !== "" && [h("code", {}, pointer), `${texts.colon} `];
		return h("li", {}, ...(place || []), h("span", { lang }, text));
	};
	return problems.length === 0 ? null : h("ul", {}, problems.map(item));
}
