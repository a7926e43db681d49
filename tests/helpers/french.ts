import * as assert from "uvu/assert";

export const englishWords =
	/\b(?:the|must|is|are|was|not|has|have|and|with|of|this|which|than|from|cannot|does|too|that|where)\b/i;

/** What a client sent stays as it was: places, and values in double quotes. @param body JSON */
export function assertFrench(body: string): void {
	const { errors = [], warnings = [] } = JSON.parse(body || "{}") as Record<string, string[]>;
	for (const text of [errors, warnings].flat()) {
		const words = text.replace(/^\/.*: /, "").replace(/"(?:[^"\\]|\\.)*["…]?/g, "");
		assert.not.match(words, englishWords, text);
	}
}
