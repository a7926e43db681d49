/** The value of a JSON text; null where it is none. */
export function tryJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
