import { declinedFolder, reviewFolders } from "../store.ts";

/** A ref that a push would change, as git passes it to a hook (githooks(5), "pre-receive"). */
export interface Update {
	/** Its present commit; null if the ref does not exist. */
	from: string | null;
	/** Its new commit; null if the ref would be removed. */
	to: string | null;
	/** `refs/heads/main` */
	ref: string;
}

export const servedRef = "refs/heads/main";

const branches = "refs/heads/";

/** The branch of a change that waits for a reviewer: `register/<smallkey>` or `register/<sender>.batch`. */
const reviewRef = new RegExp(`^refs/heads/(?:${reviewFolders.join("|")})/[^/]+$`);

/** Parses the input of the hook: a line `<from> <to> <ref>` for each ref. */
export function parseUpdates(text: string): Update[] {
	const lines = text.split("\n").filter(Boolean);
	return lines.map((line) => {
		const [from = "", to = "", ...name] = line.split(" ");
		return { from: commitOf(from), to: commitOf(to), ref: name.join(" ") };
	});
}

/** The id of a commit; null for zeros, which git writes if there is none. */
function commitOf(id: string): string | null {
	return /^0+$/.test(id) ? null : id;
}

/** Whether a ref is the service's: it only moves forward, and the service has written or accepted all its commits. */
export function isServices(ref: string): boolean {
	return ref === servedRef || reviewRef.test(ref);
}

/** Why a push must not create, move or remove a ref of this name; null if it may. */
export function findRefProblem({ from, to, ref }: Update): string | null {
	if (!ref.startsWith(branches)) return "only branches may be pushed: refs/heads/…";
	if (to === null) return isServices(ref) ? "must not be removed: it is the service's own" : null;
	if (ref === servedRef) return null;
	const branch = ref.slice(branches.length);
	const lower = branch.toLowerCase();
	// A case-insensitive file system stores both in one file.
	if (lower === "main") return "differs only in case from the branch main: push it under another name";
	// Git would find several refs for `main` or `heads/main` (gitrevisions(7)), and then pushes to none of them.
	if (/^(?:head$|heads\/|refs\/)/.test(lower))
		return "is a name that git takes for another one's: push it under a plain one";
	const [folder = ""] = lower.split("/");
	if (
		[...reviewFolders, declinedFolder].some((name) => name === folder) &&
		(from === null || !reviewRef.test(ref))
	) {
		return "is a name that the service keeps for reviews: push it under another one";
	}
	return null;
}
