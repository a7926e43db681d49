import { counted } from "../../registry/untrusted-text.ts";
import { type LayerRow, maxDetailed, type Review } from "./review.ts";

/** What the command `review` passes to `approvals`. */
export interface Report {
	/** `cancelled`: there was no review. */
	conclusion: "success" | "failure" | "cancelled";
	comment: string;
}

/** Errors come first. A line starts with its level: the runner of GitHub Actions interprets one that starts with `::` as a command. */
export function remarkLines({ obstacle, remarks }: Review): string[] {
	return [
		...(obstacle === null ? [] : [`error It cannot be merged: ${obstacle}`]),
		...remarks.map(({ level, file, line, text }) => `${level} ${file}:${line}: ${text}`),
	];
}

export function summaryLine({ errors, remarks, layers }: Review): string {
	const warnings = counted(remarks.length - errors, "warning");
	return `${counted(layers.length, "layer")} changed, ${errors} to correct, ${warnings}`;
}

/** The problems of a review and its changes for viewers, for a terminal. */
export function changeLines(review: Review): string[] {
	const { outside, layers } = review;
	return [
		...remarkLines(review),
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
