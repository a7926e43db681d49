import { counted, plain } from "../../registry/untrusted-text.ts";
import { marker, maxCommentLength } from "./comment.ts";
import type { Located } from "./layer-changes.ts";
import {
	isWrong,
	type LayerChange,
	layerRows,
	maxDetailed,
	type Review,
	remarksOf,
	servicesOf,
} from "./review.ts";

export interface Annotation extends Located {
	level: "error" | "warning";
	title: string;
}

/** What the job that reads untrusted data passes to the job that plans what is written. */
export interface Report {
	conclusion: "success" | "failure";
	comment: string;
	annotations: Annotation[];
}

/** GitHub accepts 50 at once, and the comment lists the others. */
const maxAnnotations = 50;

const maxAnnotationText = 2_000;

export function annotationsOf(review: Review): Annotation[] {
	return remarksOf(review).flatMap(({ level, title, located }) =>
		located.map((remark) => ({ level, title, ...remark })),
	);
}

export function reportOf(review: Review, comment: string): Report {
	const annotations = annotationsOf(review).slice(0, maxAnnotations);
	return { conclusion: isWrong(review) ? "failure" : "success", comment, annotations };
}

/** @throws {Error} if the text is not a report, or has content that a review cannot have written */
export function parseReport(text: string): Report {
	const { conclusion, comment, annotations } = JSON.parse(text) as Partial<Report>;
	if (conclusion !== "success" && conclusion !== "failure") throw new Error("the report has no conclusion");
	if (typeof comment !== "string" || !comment.startsWith(`${marker}\n`))
		throw new Error("the comment does not start with its marker");
	if (comment.length > maxCommentLength)
		throw new Error(`the comment has more than ${maxCommentLength} characters`);
	if (/[^\P{Cc}\n]|\p{Cf}|\p{Cs}/u.test(comment)) throw new Error("the comment holds control characters");
	if (!Array.isArray(annotations) || annotations.length > maxAnnotations || !annotations.every(isAnnotation))
		throw new Error("the report has something else than annotations");
	return { conclusion, comment, annotations };
}

function isAnnotation(value: unknown): value is Annotation {
	const { level, title, file, line, text } = (value ?? {}) as Partial<Annotation>;
	const areTexts = [title, file, text].every(
		(part) => typeof part === "string" && part.length <= maxAnnotationText,
	);
	return (level === "error" || level === "warning") && areTexts && Number.isSafeInteger(line);
}

/** It starts with the level: the runner of GitHub Actions interprets a line that starts with `::` as a command. */
export function remarkLine({ level, file, line, text }: Omit<Annotation, "title">): string {
	return plain(`${level} ${file}:${line}: ${text}`);
}

export function obstacleLines({ obstacle }: Review): string[] {
	return obstacle === null ? [] : [plain(`error It cannot be merged: ${obstacle}`)];
}

export function summaryLine({ problems, warnings, services, layers }: Review): string {
	return [
		`${counted(layers.length, "layer")} changed`,
		`${problems.length + services.wrong.length} to correct`,
		...(warnings.length > 0 ? [counted(warnings.length, "warning")] : []),
		`${services.down.length} warnings of servers that are down`,
	].join(", ");
}

/** Remarks that are shown at a terminal. */
const maxRemarks = 50;

/** The problems of a review and its changes for viewers, for a terminal; control characters are removed. */
export function changeLines(review: Review): string[] {
	// Errors come first.
	const remarks = annotationsOf(review).map(remarkLine);
	const hidden = remarks.length - maxRemarks;
	return [
		...obstacleLines(review),
		...remarks.slice(0, maxRemarks),
		...(hidden > 0 ? [`and ${hidden} more`] : []),
		...review.outside.map((path) => plain(`error ${path}: is no file of a layer`)),
		...(review.layers.length > maxDetailed ? rowLines(review) : review.layers.flatMap(layerLines)),
	];
}

function rowLines(review: Review): string[] {
	return layerRows(review).map(({ smallkey, verb, state, name }) =>
		plain([verb.padEnd("changed".length), smallkey, state, name].filter((text) => text !== "").join("  ")),
	);
}

function layerLines(layer: LayerChange): string[] {
	const viewerLines = layer.fragments().flatMap(({ lang, lines, hidden }) => {
		if (lines.length === 0) return [];
		const rest = hidden > 0 ? [`… ${hidden} more lines`] : [];
		return [`  viewers in ${lang} read:`, ...[...lines, ...rest].map((line) => `    ${line}`)];
	});
	const lines = [
		`${layer.smallkey}: ${layer.verb}`,
		...viewerLines,
		...servicesOf(layer).map(({ lang, address }) => `  its service in ${lang}: ${address}`),
		...(layer.draft === null ? [] : [`  on the map, as a draft: ${layer.draft}`]),
	];
	return lines.map(plain);
}
