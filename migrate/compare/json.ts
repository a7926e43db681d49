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

/** The node of a fragment: `{"layers":{"wms":[node]}}`, `{"layers":{"feature":[node]}}` or `{"layers":[node]}`; null without one. */
export function nodeIn(fragment: unknown): Json | null {
	const { layers } = objectOf(fragment);
	const { wms, feature } = objectOf(layers);
	const [node] = [...listOf(layers), ...listOf(wms), ...listOf(feature)];
	return isObject(node) ? node : null;
}

/** The value if it is an array, else an empty one. */
export function listOf(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [];
}
