import type { CatalogueProblem } from "../search/catalogue.ts";
import type { Texts } from "../text/texts.ts";
import { h } from "./dom.ts";

/** Most different problems that are named at once. */
const maxNamed = 3;

/** What is said of parts of the catalogue that cannot be used, with a way to try again; null where all are whole. */
export function problemBox(
	texts: Texts,
	problems: readonly CatalogueProblem[],
	retry: () => void,
): HTMLElement | null {
	if (problems.length === 0) return null;
	const named = new Set(problems.map((problem) => problemText(texts, problem)));
	return h(
		"div",
		{ class: "warning", role: "alert" },
		[...named].slice(0, maxNamed).map((text) => h("p", {}, text)),
		h("button", { onclick: retry }, texts.tryAgain),
	);
}

function problemText(texts: Texts, problem: CatalogueProblem): string {
	if (problem.kind === "version") return texts.problemVersion;
	return problem.kind === "file" ? texts.problemPiece(problem.path) : texts.problemNetwork;
}
