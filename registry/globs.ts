/**
 * Whether a smallkey matches a glob, in which `*` is any number of characters and `?` is one; case-sensitive. Takes at
 * most one step for each pair of characters, where a regular expression could take exponential time.
 */
export function matchesGlob(glob: string, smallkey: string): boolean {
	const isAt = (part: string, start: number) =>
		[...part].every((character, index) => character === "?" || character === smallkey[start + index]);
	const [first = "", ...parts] = glob.split("*");
	const last = parts.pop();
	if (last === undefined) return glob.length === smallkey.length && isAt(glob, 0);
	if (!isAt(first, 0)) return false;
	const end = smallkey.length - last.length;
	let start = first.length;
	// Each part between two stars is matched at its first occurrence.
	for (const part of parts) {
		while (start + part.length <= end && !isAt(part, start)) start += 1;
		start += part.length;
	}
	return start <= end && isAt(last, end);
}
