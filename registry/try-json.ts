/** The value of a JSON text; null where the text is not JSON. */
export function tryJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
