import { plainLine } from "./annotations.ts";
import type { LayerChange, Review } from "./review.ts";

/** Lines of one fragment's difference that are shown. */
const mostLines = 40;

/** What a review found and what it changes for viewers, for a terminal; foreign text is in it as it came. */
export function changeLines({ problems, outside, layers }: Review): string[] {
	return [
		...problems.map((one) => plainLine("error", one)),
		...outside.map((path) => `error ${path}: is no file of a layer`),
		...layers.flatMap(layerLines),
	];
}

function layerLines({ smallkey, verb, fragments }: LayerChange): string[] {
	const changed = (fragments ?? []).filter(({ lines }) => lines.length > 0);
	return [
		`${smallkey}: ${verb}`,
		...changed.flatMap(({ lang, lines, hidden }) => {
			const left = hidden + Math.max(0, lines.length - mostLines);
			const rest = left > 0 ? [`    … ${left} more lines`] : [];
			return [
				`  viewers in ${lang} read:`,
				...lines.slice(0, mostLines).map((line) => `    ${line}`),
				...rest,
			];
		}),
	];
}
