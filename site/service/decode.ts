import { isNestedBeyond } from "../../registry/json.ts";
import { isObject, shorten, tryJson } from "../../registry/untrusted.ts";

/** Bounds the stack of recursive readers. ArcGIS needs about ten. */
const maxDepth = 100;

/** A large legend has some ten thousand. An empty list takes fifty times its text in memory. */
const maxContainers = 200_000;

const maxTextLength = 512;

const stringOrNaN = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/**
 * Reads JSON, with null for each bare `NaN` or `Infinity`, which ArcGIS writes.
 * @param containers the most objects and lists
 * @returns null if it is not JSON, or goes over a limit
 */
export function parseAnswer(bytes: Uint8Array, containers = maxContainers): unknown {
	const text = new TextDecoder().decode(bytes);
	if (isNestedBeyond(text, maxDepth, containers)) return null;
	const value = tryJson(text);
	if (value !== null || !/\b(?:NaN|Infinity)\b/.test(text)) return value;
	return tryJson(text.replace(stringOrNaN, (token) => (token.startsWith('"') ? token : "null")));
}

/** One line of at most 160 characters, without control characters. */
export function quote(text: string): string {
	return shorten(text.replace(/[\p{C}\p{Z}]+/gu, " ").trim(), 160);
}

export function objectOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The first 512 characters, without lone surrogates; `""` if it is no string. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value.slice(0, maxTextLength).toWellFormed() : "";
}

/** Null also for a number in quotes. */
export function numberOf(value: unknown): number | null {
	return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** A number, boolean or text; `""` for all else. */
export function wordOf(value: unknown): string {
	return typeof value === "number" || typeof value === "boolean" ? String(value) : textOf(value);
}
