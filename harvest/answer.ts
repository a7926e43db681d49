import { isNestedBeyond } from "../registry/json.ts";

/** Deepest nesting of an answer that is read; ArcGIS needs about ten. It bounds the stack of recursive readers. */
const maxDepth = 100;

/**
 * Most objects and lists of an answer that is read; the legend of a large map service has some ten thousand. It bounds
 * the memory that an answer takes: an empty list has two bytes as text, and fifty times that in memory.
 */
const maxContainers = 200_000;

/** Longest text that is kept of an answer, in characters. */
const maxTextLength = 512;

/**
 * Reads a service's JSON answer: UTF-8, with or without a byte order mark.
 * @returns undefined if it is no JSON, or nested deeper than 100, or has more than 200,000 objects and lists
 */
export function parseAnswer(bytes: Uint8Array): unknown {
	const text = new TextDecoder().decode(bytes);
	if (isNestedBeyond(text, maxDepth, maxContainers)) return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

/** `value` as an object whose members are unknown; an empty one where it is none. */
export function objectOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}

/** Whether `value` is an object, and neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` as a list; an empty one where it is none. */
export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** `value` as text of at most 512 characters, fit for UTF-8; `""` where it is none. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value.slice(0, maxTextLength).toWellFormed() : "";
}

/** `value` as a finite number; null if it is none, also where it is a number's text. */
export function numberOf(value: unknown): number | null {
	return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** `value` as the text that names it: a text, or a number or truth value spelled out; `""` for anything else. */
export function wordOf(value: unknown): string {
	return typeof value === "number" || typeof value === "boolean" ? String(value) : textOf(value);
}
