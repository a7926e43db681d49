/**
 * Whether a smallkey matches a glob: `*` is any run of characters, `?` is one; case-sensitive. At most one step for each
 * pair of characters, where a regular expression could take exponential time.
 */
export function matchesGlob(glob: string, smallkey: string): boolean {
	let inGlob = 0;
	let inKey = 0;
	/** Index of the last star, and the end of the run that it matches so far. */
	let star = -1;
	let runEnd = 0;
	while (inKey < smallkey.length) {
		if (glob[inGlob] === "*") {
			star = inGlob;
			runEnd = inKey;
			inGlob += 1;
		} else if (glob[inGlob] === "?" || glob[inGlob] === smallkey[inKey]) {
			inGlob += 1;
			inKey += 1;
		} else if (star >= 0) {
			runEnd += 1;
			inKey = runEnd;
			inGlob = star + 1;
		} else {
			return false;
		}
	}
	while (glob[inGlob] === "*") inGlob += 1;
	return inGlob === glob.length;
}
