import type { Located } from "./check.ts";
import { longestComment, marker } from "./comment.ts";
import { isWrong, type Review } from "./review.ts";

/** A remark at a line of *Files changed*. */
export interface Annotation extends Located {
	/** How much it matters. */
	level: "error" | "warning";
	title: string;
}

/** What the job that reads foreign data hands to the one that may write. */
export interface Report {
	conclusion: "success" | "failure";
	/** The comment, as Markdown. */
	comment: string;
	annotations: Annotation[];
}

/** Most annotations of a report: GitHub takes 50 at once, and the comment lists the others. */
const maxAnnotations = 50;

/** The longest text of an annotation, in characters. */
const maxAnnotationText = 2_000;

/** The problems of a review, each with how much it matters and a title. */
export function annotationsOf({ problems, warnings, services }: Review): Annotation[] {
	const groups = [
		["error", "Layer", problems],
		["error", "Map service: this change is wrong", services.wrong],
		["warning", "Layer: probably not meant", warnings],
		["warning", "Map service: their server is down", services.down],
	] as const;
	return groups.flatMap(([level, title, found]) => found.map((problem) => ({ level, title, ...problem })));
}

/** @param comment the review as Markdown */
export function reportOf(review: Review, comment: string): Report {
	const annotations = annotationsOf(review).slice(0, maxAnnotations);
	return { conclusion: isWrong(review) ? "failure" : "success", comment, annotations };
}

/** Reads a report. @throws {Error} where it is none, or holds what could not have come from a review */
export function parseReport(text: string): Report {
	const { conclusion, comment, annotations } = JSON.parse(text) as Partial<Report>;
	if (conclusion !== "success" && conclusion !== "failure") throw new Error("the report has no conclusion");
	if (typeof comment !== "string") throw new Error("the report has no comment");
	checkComment(comment);
	if (!Array.isArray(annotations) || annotations.length > maxAnnotations || !annotations.every(isAnnotation))
		throw new Error("the report has annotations that are none");
	return { conclusion, comment, annotations };
}

function isAnnotation(value: unknown): value is Annotation {
	const { level, title, file, line, text } = (value ?? {}) as Partial<Annotation>;
	const texts = [title, file, text];
	const areTexts = texts.every((one) => typeof one === "string" && one.length <= maxAnnotationText);
	return (level === "error" || level === "warning") && areTexts && Number.isSafeInteger(line);
}

/** Checks a comment that is about to be posted. @throws {Error} where it is none of ours, or too long */
export function checkComment(text: string): void {
	if (!text.startsWith(`${marker}\n`)) throw new Error("the comment does not start with its marker");
	if (text.length > longestComment) throw new Error(`the comment has more than ${longestComment} characters`);
	if (/[^\P{Cc}\n]|\p{Cf}|\p{Cs}/u.test(text)) throw new Error("the comment holds control characters");
}
