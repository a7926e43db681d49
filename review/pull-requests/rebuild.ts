import { dataOf, dataOrNull } from "../../store/github/refusal.ts";
import type { Github } from "../../store/github/routes.ts";

/** An open pull request, as GitHub lists it. */
export interface OpenPull {
	number: number;
	head: { ref: string; sha: string; repo: { full_name: string } | null };
}

/** Files that are put into one tree: GitHub takes too long over many. */
const maxEntries = 100;

/** A path of a tree, and the blob there; null where there is none any more. */
interface TreeEntry {
	path: string;
	mode: "100644";
	type: "blob";
	sha: string | null;
}

/** How a pull request of ours was built anew; `needless` where the branch below has all of it. */
export type Rebuilt = "rebuilt" | "needless";

/**
 * Builds a pull request of the service anew on the branch below it, by a merge in which its own files stay as they are
 * proposed. Its branch is only ever moved forward: what a publisher adds meanwhile is not lost, and makes this fail.
 * @throws {Error} where GitHub refuses
 */
export async function rebuild(github: Github, pull: OpenPull, base: string): Promise<Rebuilt> {
	const { rest, repo } = github;
	const ref = await dataOf(rest.git.getRef({ ...repo, ref: `heads/${base}` }), `show the branch ${base}`);
	const tip = ref.object.sha;
	const commit = await dataOf(rest.git.getCommit({ ...repo, commit_sha: tip }), "show its commit");
	const tree = await writeFiles(github, commit.tree.sha, await entriesOf(github, pull.number, tip));
	if (tree === commit.tree.sha) return "needless";
	const message = `merge ${base} into ${pull.head.ref}, whose files stay as they are proposed`;
	const parents = [pull.head.sha, tip];
	const merge = await dataOf(rest.git.createCommit({ ...repo, message, tree, parents }), "make a commit");
	const moved = rest.git.updateRef({ ...repo, ref: `heads/${pull.head.ref}`, sha: merge.sha, force: false });
	await dataOf(moved, `move the branch ${pull.head.ref}`);
	return "rebuilt";
}

/** The files of a pull request as it proposes them. */
async function entriesOf(
	{ rest, repo, paginate }: Github,
	number: number,
	tip: string,
): Promise<TreeEntry[]> {
	const listed = paginate(rest.pulls.listFiles, { ...repo, pull_number: number, per_page: 100 });
	const files = await dataOf(
		listed.then((data) => ({ data })),
		"list the changed files",
	);
	const entries: TreeEntry[] = [];
	const add = (path: string, sha: string | null) => entries.push({ path, mode: "100644", type: "blob", sha });
	for (const { filename, previous_filename, status, sha } of files) {
		if (status !== "removed") add(filename, sha);
		const gone = status === "removed" ? filename : previous_filename;
		if (gone === undefined) continue;
		// GitHub refuses to remove what is not there.
		const present = rest.repos.getContent({ ...repo, path: gone, ref: tip });
		if (await dataOrNull(present, `show ${gone}`)) add(gone, null);
	}
	return entries;
}

async function writeFiles({ rest, repo }: Github, base: string, entries: TreeEntry[]): Promise<string> {
	let tree = base;
	for (let start = 0; start < entries.length; start += maxEntries) {
		const some = entries.slice(start, start + maxEntries);
		const written = rest.git.createTree({ ...repo, base_tree: tree, tree: some });
		tree = (await dataOf(written, "write a tree")).sha;
	}
	return tree;
}
