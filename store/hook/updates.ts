import { declinedFolder, reviewFolders } from "../store.ts";

/** One ref that a push would move, as git hands it to a hook (githooks(5), "pre-receive"). */
export interface Update {
	/** Its commit; null where there is no such ref. */
	from: string | null;
	/** The commit that it would stand at; null where it would go. */
	to: string | null;
	/** `refs/heads/main` */
	ref: string;
}

export const servedRef = "refs/heads/main";

const branches = "refs/heads/";

/** Where a change waits for a reviewer: `register/<smallkey>`, `register/<sender>.batch`. */
const reviewRef = new RegExp(`^refs/heads/(?:${reviewFolders.join("|")})/[^/]+$`);

/** Reads what git says to a hook: a line `<from> <to> <ref>` for each ref. */
export function parseUpdates(text: string): Update[] {
	const lines = text.split("\n").filter(Boolean);
	return lines.map((line) => {
		const [from = "", to = "", ...name] = line.split(" ");
		return { from: commitOf(from), to: commitOf(to), ref: name.join(" ") };
	});
}

/** Git writes zeros where there is no commit. */
function commitOf(id: string): string | null {
	return /^0+$/.test(id) ? null : id;
}

/** Whether a ref is the service's: commits are only added to it, and all of them were written or accepted by the service. */
export function isServices(ref: string): boolean {
	return ref === servedRef || reviewRef.test(ref);
}

/** Why a ref may not be made, moved or removed like this; null where nothing is wrong with its name. */
export function findRefProblem({ from, to, ref }: Update): string | null {
	if (!ref.startsWith(branches)) return "only branches may be pushed: refs/heads/…";
	if (to === null) return isServices(ref) ? "must not be removed: it is the service's own" : null;
	if (ref === servedRef) return null;
	const branch = ref.slice(branches.length);
	const lower = branch.toLowerCase();
	// A disk that does not tell cases apart keeps both in one file.
	if (lower === "main") return "differs only in case from the branch main: push it under another name";
	// Git finds `main` and `heads/main` under several names (gitrevisions(7)), and then pushes to neither.
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
