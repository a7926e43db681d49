/** The known name that is most similar to a misspelt name; null where none is similar. */
export function nearestName(name: string, known: Iterable<string>): string | null {
	// A longer name is not a misspelt one, and would take long to compare.
	if (name.length > 64) return null;
	let nearest: string | null = null;
	let least = name.length < 5 ? 2 : 3;
	for (const one of known) {
		const edits = editsBetween(name.toLowerCase(), one.toLowerCase());
		if (edits < least) [nearest, least] = [one, edits];
	}
	return nearest;
}

/** Number of characters that are added, removed or changed between two texts (Levenshtein distance). */
function editsBetween(from: string, to: string): number {
	let row = Array.from({ length: to.length + 1 }, (_, column) => column);
	for (let line = 1; line <= from.length; line += 1) {
		const next = [line];
		for (let column = 1; column <= to.length; column += 1) {
			const changed = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
			next.push(Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row[to.length] ?? 0;
}
