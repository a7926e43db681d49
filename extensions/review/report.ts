import { counted } from "../../registry/untrusted-text.ts";
import { type LayerRow, maxDetailed, type Remark, type Review } from "./review.ts";

/** What the command `review` passes to `approvals`. */
export interface Report {
	/** `cancelled`: there was no review. */
	conclusion: "success" | "failure" | "cancelled";
	comment: string;
}

/** Remarks that are shown at a terminal. */
const maxRemarks = 50;

/** It starts with the level: the runner of GitHub Actions interprets a line that starts with `::` as a command. */
function remarkLine({ level, file, line, text }: Remark): string {
	return `${level} ${file}:${line}: ${text}`;
}

export function remarkLines({ obstacle, remarks }: Review, max = Number.POSITIVE_INFINITY): string[] {
	return [
		...(obstacle === null ? [] : [`error It cannot be merged: ${obstacle}`]),
		// Errors come first.
		...remarks.slice(0, max).map(remarkLine),
		...(remarks.length > max ? [`and ${remarks.length - max} more`] : []),
	];
}

export function summaryLine({ errors, remarks, layers }: Review): string {
	const [down, odd] = ["service down", "odd"].map(
		(state) => remarks.filter((remark) => remark.state === state).length,
	) as [number, number];
	return [
		`${counted(layers.length, "layer")} changed`,
		`${errors} to correct`,
		...(odd > 0 ? [counted(odd, "warning")] : []),
		`${down} warnings of servers that are down`,
	].join(", ");
}

/** The problems of a review and its changes for viewers, for a terminal. */
export function changeLines(review: Review): string[] {
	const { outside, layers } = review;
	return [
		...remarkLines(review, maxRemarks),
		...outside.map((path) => `error ${path}: is no file of a layer`),
		...(layers.length > maxDetailed ? layers.map(rowLine) : layers.flatMap(layerLines)),
	];
}

function rowLine({ smallkey, verb, state, name }: LayerRow): string {
	return [verb.padEnd("changed".length), smallkey, state, name].filter(Boolean).join("  ");
}

function layerLines({ smallkey, verb, fragments, draft }: LayerRow): string[] {
	return [
		`${smallkey}: ${verb}`,
		...fragments.flatMap(({ lang, lines, hidden }) => {
			if (lines.length === 0) return [];
			const rest = hidden > 0 ? [`… ${hidden} more lines`] : [];
			return [`  viewers in ${lang} read:`, ...[...lines, ...rest].map((line) => `    ${line}`)];
		}),
		...(draft === null ? [] : [`  on the map, as a draft: ${draft}`]),
	];
}
