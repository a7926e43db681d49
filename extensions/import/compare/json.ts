import { isObject, listOf, objectOf } from "../../../site/service/decode.ts";

export { isObject, listOf, objectOf };

/** A JSON object of unknown shape. */
export type Json = Record<string, unknown>;

/** The value if it is a string, else `""`. */
export function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}

/** The node of a fragment (`{"layers":{"wms":[node]}}`, `{"layers":{"feature":[node]}}`, `{"layers":[node]}`), or null. */
export function nodeIn(fragment: unknown): Json | null {
	const { layers } = objectOf(fragment);
	const { wms, feature } = objectOf(layers);
	const [node] = [...listOf(layers), ...listOf(wms), ...listOf(feature)];
	return isObject(node) ? node : null;
}
