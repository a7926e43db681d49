import { isNestedBeyond } from "../../registry/nesting.ts";
import { isObject, tryJson } from "../../registry/try-json.ts";

export { isObject };

/** Nesting of an answer; ArcGIS needs about ten. It limits the stack of recursive readers. */
const maxDepth = 100;

/**
 * Objects and lists of an answer; the legend of a large map service has some ten thousand. It limits the memory of an
 * answer: an empty list has two bytes as text, and fifty times as many in memory.
 */
const maxContainers = 200_000;

/** Characters that are used of a text in an answer. */
const maxTextLength = 512;

/** Accepts a JSON string, or a number that JSON does not have. */
const stringOrNaN = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/**
 * Parses a service's JSON answer: UTF-8, with or without a byte order mark. A bare `NaN` or `Infinity`, which ArcGIS
 * writes and its own clients read, is null.
 * @param limit most objects and lists
 * @returns null if it is not JSON, is nested deeper than 100, or has more objects and lists
 */
export function parseAnswer(bytes: Uint8Array, limit = maxContainers): unknown {
	const text = new TextDecoder().decode(bytes);
	if (isNestedBeyond(text, maxDepth, limit)) return null;
	const value = tryJson(text);
	if (value !== null || !/\b(?:NaN|Infinity)\b/.test(text)) return value;
	return tryJson(text.replace(stringOrNaN, (token) => (token.startsWith('"') ? token : "null")));
}

/** Shortens an untrusted text for use in a finding: one line, no control characters, at most 160 characters. */
export function quote(text: string): string {
	const line = text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
	return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** `value` if it is an object, else an empty object. */
export function objectOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}

/** `value` if it is a list, else an empty list. */
export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The first 512 characters of `value` if it is a string, without lone surrogates; else `""`. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value.slice(0, maxTextLength).toWellFormed() : "";
}

/** `value` if it is a finite number; else null, also for a number as text. */
export function numberOf(value: unknown): number | null {
	return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A string, number or boolean as a string; `""` for anything else. */
export function wordOf(value: unknown): string {
	return typeof value === "number" || typeof value === "boolean" ? String(value) : textOf(value);
}
