import { isNestedBeyond, isObject, tryJson } from "../../registry/json.ts";
import { shortened } from "../../registry/untrusted-text.ts";

export { isObject };

/** ArcGIS needs about ten. It limits the stack of recursive readers. */
const maxDepth = 100;

/** The legend of a large map service has some ten thousand. An empty list takes fifty times its text in memory. */
const maxContainers = 200_000;

const maxTextLength = 512;

const stringOrNaN = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/**
 * A bare `NaN` or `Infinity`, which ArcGIS writes, is null.
 * @param limit most objects and lists
 * @returns null if it is not JSON, or goes over a limit
 */
export function parseAnswer(bytes: Uint8Array, limit = maxContainers): unknown {
	const text = new TextDecoder().decode(bytes);
	if (isNestedBeyond(text, maxDepth, limit)) return null;
	const value = tryJson(text);
	if (value !== null || !/\b(?:NaN|Infinity)\b/.test(text)) return value;
	return tryJson(text.replace(stringOrNaN, (token) => (token.startsWith('"') ? token : "null")));
}

/** For a finding: one line, no control characters, at most 160 characters. */
export function quote(text: string): string {
	return shortened(text.replace(/[\p{C}\p{Z}]+/gu, " ").trim(), 160);
}

export function objectOf(value: unknown): Record<string, unknown> {
	return isObject(value) ? value : {};
}

export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The first 512 characters, without lone surrogates; `""` for anything but a string. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value.slice(0, maxTextLength).toWellFormed() : "";
}

/** Null also for a number as text. */
export function numberOf(value: unknown): number | null {
	return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function wordOf(value: unknown): string {
	return typeof value === "number" || typeof value === "boolean" ? String(value) : textOf(value);
}
