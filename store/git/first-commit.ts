import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CatFile } from "../../git/cat-file.ts";
import type { Edit } from "../store.ts";
import type { StoreContext } from "./context.ts";
import { serviceName } from "./new-commit.ts";

/**
 * The commit that a branch is at; null where the repository has no such branch yet.
 * @throws {Error} that says what to do, where the branch exists and names no commit, or one that is missing
 */
export async function readHead(repository: string, branch: string, catFile: CatFile): Promise<string | null> {
	const head = await catFile.read(`refs/heads/${branch}`);
	if (head?.type === "commit") return head.id;
	const named = await readRef(repository, branch);
	// Without this the next start would take a broken branch for an empty repository.
	if (named !== null) throw new Error(brokenBranch(repository, branch, named));
	return null;
}

/** Makes the first commit of a branch. @returns its id */
export async function commitSeed(
	{ repository, writer, sync }: Pick<StoreContext, "repository" | "writer" | "sync">,
	branch: string,
	edits: Edit[],
	timeMs: number,
): Promise<string> {
	const meta = {
		smallkey: null,
		author: serviceName,
		time: timeMs,
		subject: `seed ${edits.length} files`,
		trailers: [],
		request: null,
		review: false,
	};
	writer.begin(null);
	const made = writer.commit({ edits, meta, committed: timeMs });
	await writer.store();
	const id = await made;
	await writer.move(branch, null, id);
	await sync(join(repository, "refs/heads"));
	return id;
}

/** What a branch's file, or the file of packed branches, says of it; null where neither does (gitrepository-layout(5)). */
async function readRef(repository: string, branch: string): Promise<string | null> {
	const loose = await readIfThere(join(repository, "refs/heads", branch));
	if (loose !== null) return loose;
	const packed = (await readIfThere(join(repository, "packed-refs"))) ?? "";
	const line = packed.split("\n").find((one) => one.endsWith(` refs/heads/${branch}`));
	return line?.slice(0, line.indexOf(" ")) ?? null;
}

async function readIfThere(path: string): Promise<string | null> {
	return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
		// Git leaves empty folders where a branch had a slash in its name.
		if (error.code === "ENOENT" || error.code === "EISDIR") return null;
		throw error;
	});
}

/** Most of a broken branch that is quoted, in characters. */
const maxQuoted = 60;

function brokenBranch(repository: string, branch: string, named: string): string {
	const quoted = JSON.stringify(named.trim().slice(0, maxQuoted));
	const file = join(repository, "refs/heads", branch);
	return [
		`${file}: must name a commit of the repository, and says ${quoted}.`,
		`Nothing was changed. Put the repository back from a backup or a clone, or write the id of its last commit into`,
		`that file: "git -C ${repository} fsck" lists it as a dangling commit`,
	].join(" ");
}
