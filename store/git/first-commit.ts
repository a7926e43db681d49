import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CatFile } from "../../git/cat-file.ts";
import { type Edit, serviceAuthor } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { branchName } from "./branch.ts";
import type { Writer } from "./writer.ts";

/**
 * Reads the id of the branch's last commit; null if the repository has no such branch yet.
 * @throws {Error} with advice if the branch exists, and names no commit or a missing one
 */
export async function readHead(repository: string, catFile: CatFile): Promise<string | null> {
	const head = await catFile.read(`refs/heads/${branchName}`);
	if (head?.type === "commit") return head.id;
	const named = await readRef(repository);
	if (named === null) return null;
	// Without this check, a start would treat a repository with a broken branch as an empty one.
	const file = join(repository, "refs/heads", branchName);
	throw new Error(
		[
			`${file}: must name a commit of the repository, and says ${JSON.stringify(named.trim().slice(0, maxQuoted))}.`,
			"Nothing was changed. Put the repository back from a backup or a clone, or write the id of its last commit into",
			`that file: "git -C ${repository} fsck" lists it as a dangling commit`,
		].join(" "),
	);
}

/** How much of a broken branch file an error quotes, in characters. */
const maxQuoted = 60;

/** Makes the first commit of the branch. @returns its id */
export async function commitSeed(
	{ repository, sync, now }: StoreBase,
	writer: Writer,
	edits: Edit[],
): Promise<string> {
	const subject = `seed ${edits.length} files`;
	const unsigned = { smallkey: null, trailers: [], request: null, review: false };
	writer.begin(null);
	const made = writer.commit(edits, { ...unsigned, author: serviceAuthor, time: now(), subject });
	await writer.store();
	const id = await made;
	await writer.move(branchName, null, id);
	await sync(join(repository, "refs/heads"));
	return id;
}

/** The text of the branch in its own file or in `packed-refs`; null if neither has it (gitrepository-layout(5)). */
async function readRef(repository: string): Promise<string | null> {
	const read = (name: string) =>
		readFile(join(repository, name), "utf8").catch((error: NodeJS.ErrnoException) => {
			// After a branch with a slash in its name was removed, git may leave a folder at this path.
			if (error.code === "ENOENT" || error.code === "EISDIR") return null;
			throw error;
		});
	const packed = (await read("packed-refs"))
		?.split("\n")
		.find((line) => line.endsWith(` refs/heads/${branchName}`));
	return (await read(`refs/heads/${branchName}`)) ?? packed?.slice(0, packed.indexOf(" ")) ?? null;
}
