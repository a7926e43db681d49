/** A JSON object of unknown shape. */
export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one. */
export function objectOf(value: unknown): Json {
	return isObject(value) ? value : {};
}

/** The value if it is a text, else `""`. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** The value if it is an array, else an empty one. */
export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}
