/** Whether a JSON text has more than `levels` levels or `maxContainers` objects and lists. Counts brackets outside strings. */
export function isNestedBeyond(
	text: string,
	levels: number,
	maxContainers = Number.POSITIVE_INFINITY,
): boolean {
	let depth = 0;
	let containers = 0;
	let inString = false;
	for (let index = 0; index < text.length; index += 1) {
		const character = text[index];
		if (inString) {
			if (character === "\\") index += 1;
			else if (character === '"') inString = false;
		} else if (character === '"') inString = true;
		else if (character === "{" || character === "[") {
			depth += 1;
			containers += 1;
		} else if (character === "}" || character === "]") depth -= 1;
		if (depth > levels || containers > maxContainers) return true;
	}
	return false;
}
