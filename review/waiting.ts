import { runGit } from "../git/run.ts";
import { servedRef } from "../service/find-repository.ts";

/** A change that waits for a reviewer on a branch of its own. */
export interface WaitingReview {
	/** `register/23ax5t` */
	branch: string;
	/** Its last commit: id, author, when (milliseconds since 1970), and what it says. */
	commit: string;
	author: string;
	timeMs: number;
	subject: string;
}

/** Branches of reviews begin so (`store/store.ts`). */
const folder = "refs/heads/register/";

/** The reviews that wait in a repository, the oldest first. */
export async function readWaiting(repository: string): Promise<WaitingReview[]> {
	const fields = [
		"%(refname)",
		"%(objectname)",
		"%(authorname)",
		"%(authordate:unix)",
		"%(contents:subject)",
	];
	const args = [
		"for-each-ref",
		"--sort=authordate",
		`--no-merged=${servedRef}`,
		`--format=${fields.join("%00")}`,
	];
	const output = await runGit(repository, [...args, folder]);
	return output
		.toString("utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => {
			const [ref = "", commit = "", author = "", seconds = "", subject = ""] = line.split("\0");
			const branch = ref.slice("refs/heads/".length);
			return { branch, commit, author, timeMs: Number(seconds) * 1_000, subject };
		});
}

/** The review of a name: `register/23ax5t`, or `23ax5t`. @throws {Error} that names those that wait */
export async function findWaiting(repository: string, named: string): Promise<WaitingReview> {
	const waiting = await readWaiting(repository);
	const found = waiting.find(({ branch }) => branch === named || branch === `register/${named}`);
	if (found) return found;
	const branches = waiting.map(({ branch }) => branch).join(" ");
	throw new Error(
		`${named}: does not wait for a review; ${branches ? `these wait: ${branches}` : "none waits"}`,
	);
}
