/** Whether a smallkey fits a glob, in which `*` is any run of characters and `?` is one; case-sensitive. */
export function matchesGlob(glob: string, smallkey: string): boolean {
	const source = glob
		.replace(/[.+^${}()|[\]\\]/g, "\\$&")
		.replace(/\*+/g, ".*")
		.replaceAll("?", ".");
	return new RegExp(`^${source}$`, "s").test(smallkey);
}
