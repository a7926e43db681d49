import { problemLine } from "../registry/judge.ts";
import { counted, plain } from "../terminal/plain.ts";
import type { FragmentChange } from "./fragments.ts";
import { type Annotation, annotationsOf } from "./report.ts";
import type { LayerChange, Review } from "./review.ts";

/** Lines of one fragment's difference that are shown. */
const maxLines = 40;

/**
 * A remark as a line for a person. It starts with a word of ours and holds no line break and no `##[`: the runner takes
 * a line that starts with `::`, or holds `##[`, for a command.
 */
export function remarkLine({ level, file, line, text }: Omit<Annotation, "title">): string {
	return plain(`${level} ${problemLine({ file: `${file}:${line}`, text })}`);
}

/** The required approvals, a line each. */
export function approvalLines({ approvals }: Review): string[] {
	return (approvals ?? []).map(({ owners, paths }) =>
		plain(`approval of ${owners.join(" or ")} for ${counted(paths.length, "file")}`),
	);
}

/** What was found, in a line. */
export function summaryLine({ problems, warnings, services, layers }: Review): string {
	return [
		`${counted(layers.length, "layer")} changed`,
		`${problems.length + services.wrong.length} to correct`,
		...(warnings.length > 0 ? [counted(warnings.length, "warning")] : []),
		`${services.down.length} warnings of servers that are down`,
	].join(", ");
}

/** What a review found and what it changes for viewers, for a terminal; foreign text in it is plain. */
export function changeLines(review: Review): string[] {
	return [
		...annotationsOf(review).map(remarkLine),
		...review.outside.map((path) => plain(`error ${path}: is no file of a layer`)),
		...review.layers.flatMap(layerLines),
	];
}

function layerLines({ smallkey, verb, fragments, services, draft }: LayerChange): string[] {
	const lines = [
		`${smallkey}: ${verb}`,
		...viewerLines(fragments ?? []),
		...services.map(({ lang, address }) => `  its service in ${lang}: ${address}`),
		...(draft === null ? [] : [`  on the map, as a draft: ${draft}`]),
	];
	return lines.map(plain);
}

/** What viewers read before and after, as a difference. */
export function viewerLines(fragments: readonly FragmentChange[]): string[] {
	return fragments.flatMap(({ lang, lines, hidden }) => {
		if (lines.length === 0) return [];
		const left = hidden + Math.max(0, lines.length - maxLines);
		const rest = left > 0 ? [`    … ${left} more lines`] : [];
		return [`  viewers in ${lang} read:`, ...lines.slice(0, maxLines).map((line) => `    ${line}`), ...rest];
	});
}
