import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CatFile } from "../../git/cat-file.ts";
import { type Edit, serviceAuthor } from "../store.ts";
import type { StoreBase } from "./base.ts";
import { branchName } from "./branch.ts";
import type { Writer } from "./writer.ts";

/**
 * The commit that the branch is at; null where the repository has no such branch yet.
 * @throws {Error} that says what to do, where the branch exists and names no commit, or one that is missing
 */
export async function readHead(repository: string, catFile: CatFile): Promise<string | null> {
	const head = await catFile.read(`refs/heads/${branchName}`);
	if (head?.type === "commit") return head.id;
	const named = await readRef(repository);
	if (named === null) return null;
	// Without this the next start would take a broken branch for an empty repository.
	const file = join(repository, "refs/heads", branchName);
	throw new Error(
		[
			`${file}: must name a commit of the repository, and says ${JSON.stringify(named.trim().slice(0, maxQuoted))}.`,
			"Nothing was changed. Put the repository back from a backup or a clone, or write the id of its last commit into",
			`that file: "git -C ${repository} fsck" lists it as a dangling commit`,
		].join(" "),
	);
}

/** Most of a broken branch that is quoted, in characters. */
const maxQuoted = 60;

/** Makes the first commit of the branch. @returns its id */
export async function commitSeed(
	{ repository, sync, now }: StoreBase,
	writer: Writer,
	edits: Edit[],
): Promise<string> {
	const subject = `seed ${edits.length} files`;
	const signed = { smallkey: null, trailers: [], request: null, review: false };
	writer.begin(null);
	const made = writer.commit(edits, { ...signed, author: serviceAuthor, time: now(), subject });
	await writer.store();
	const id = await made;
	await writer.move(branchName, null, id);
	await sync(join(repository, "refs/heads"));
	return id;
}

/** What the branch's file, or the file of packed branches, says of it; null where neither does (gitrepository-layout(5)). */
async function readRef(repository: string): Promise<string | null> {
	const read = (name: string) =>
		readFile(join(repository, name), "utf8").catch((error: NodeJS.ErrnoException) => {
			// Git leaves empty folders where a branch had a slash in its name.
			if (error.code === "ENOENT" || error.code === "EISDIR") return null;
			throw error;
		});
	const packed = (await read("packed-refs"))
		?.split("\n")
		.find((line) => line.endsWith(` refs/heads/${branchName}`));
	return (await read(`refs/heads/${branchName}`)) ?? packed?.slice(0, packed.indexOf(" ")) ?? null;
}
