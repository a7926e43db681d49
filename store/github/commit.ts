import { textOf } from "../../registry/texts.ts";
import { authorMail, commitMessage, type Edit, type Meta, StoreBusy, serviceAuthor } from "../store.ts";
import { dataOf, dataOrNull, type Github, TooLarge } from "./answer.ts";
import { GithubBusy } from "./client.ts";

/**
 * A tree is written in portions: with about 200 files or 2.5 MB at once, GitHub times out, and answers 502 or 422 "Sorry,
 * your request timed out … Consider building the tree incrementally".
 */
const maxPortionEntries = 100;
const maxPortionBytes = 1_000_000;

/**
 * Writes a tree: `base` with the edits, in portions that build on each other. A portion that is too large for GitHub is
 * halved.
 * @returns the tree's id
 */
export async function writeTree(github: Github, base: string, edits: readonly Edit[]): Promise<string> {
	let tree = base;
	let maxEntries = maxPortionEntries;
	for (let start = 0; start < edits.length; ) {
		const portion: Edit[] = [];
		let bytes = 0;
		for (const edit of edits.slice(start, start + maxEntries)) {
			bytes += edit.path.length + 100 + (edit.text?.length ?? 0) * 2;
			if (bytes > maxPortionBytes && portion.length > 0) break;
			portion.push(edit);
		}
		const written = await writePortion(github, tree, portion);
		if (written === null) maxEntries = Math.floor(portion.length / 2);
		else [tree, start] = [written, start + portion.length];
	}
	return tree;
}

/** @returns null if the portion is too large, and could be smaller */
async function writePortion({ rest, repo }: Github, base: string, edits: Edit[]): Promise<string | null> {
	const tree = edits.map(({ path, text }) => {
		const blob = text === null ? { sha: null } : { content: text };
		return { path, mode: "100644", type: "blob", ...blob } as const;
	});
	const asked = rest.git.createTree({ ...repo, base_tree: base, tree });
	const written = await dataOf(asked, "write the files").catch((error: unknown) => {
		const isBusy = error instanceof GithubBusy && /: 50[24], /.test(error.reason);
		if (edits.length > 1 && (isBusy || error instanceof TooLarge)) return null;
		throw error;
	});
	return written?.sha ?? null;
}

/** A commit's message, its author and its committer; git keeps whole seconds. */
function authorship(meta: Meta, now: Date) {
	const personAt = (name: string, time: Date) => {
		return { name, email: authorMail(name), date: `${time.toISOString().slice(0, 19)}Z` };
	};
	const author = personAt(meta.author, new Date(meta.time));
	return { message: commitMessage(meta), author, committer: personAt(serviceAuthor, now) };
}

/**
 * Makes a commit of a tree on top of `parent`, on no branch yet. Its author is the author of the change, its committer
 * the service. The same arguments give the same commit.
 * @returns the commit's id
 * @throws {Conflict}
 */
export async function commitTree(
	{ rest, repo }: Github,
	parent: string,
	tree: string,
	meta: Meta,
	now: Date,
): Promise<string> {
	const asked = rest.git.createCommit({ ...repo, ...authorship(meta, now), tree, parents: [parent] });
	return (await dataOf(asked, "make a commit")).sha;
}

/**
 * Moves a branch forward to a commit that follows its head.
 * @throws {Conflict} if another writer has moved the branch in the meantime
 */
export async function moveBranch({ rest, repo }: Github, branch: string, sha: string): Promise<void> {
	const asked = rest.git.updateRef({ ...repo, ref: `heads/${branch}`, sha, force: false });
	await dataOf(asked, `move the branch ${branch}`);
}

/** Creates a branch at a commit, or moves an existing branch there by force. */
export async function placeBranch({ rest, repo }: Github, branch: string, sha: string): Promise<void> {
	const ref = `heads/${branch}`;
	try {
		await dataOf(rest.git.createRef({ ...repo, ref: `refs/${ref}`, sha }), `make the branch ${branch}`);
	} catch (error) {
		if (!(error instanceof Error)) throw error;
		// GitHub's words if `a/b` is to be made beside a branch `a`, and if a rule of the repository forbids it.
		if (/reference update failed/i.test(error.message)) throw inWay(branch, error.message);
		if (!/already exists/i.test(error.message)) throw error;
		await dataOf(rest.git.updateRef({ ...repo, ref, sha, force: true }), `move the branch ${branch}`);
	}
}

function inWay(branch: string, reason: string): GithubBusy {
	const [folder = ""] = branch.split("/");
	return new GithubBusy(textOf("branch-refused", branch, folder), 300, reason);
}

/** The error for a change that cannot be the first commit of a repository. */
export const emptyRepository = /* @__PURE__ */ textOf("empty-repository");

/**
 * Makes the first commit of an empty repository, by the contents API, which writes one file. The git data API refuses an
 * empty repository (409 "Git Repository is empty.").
 * @returns the commit's id
 * @throws {Conflict} if the repository has a commit by now; StoreBusy if the change does not write exactly one
 * file; Error if `branch` is not the default branch
 */
export async function makeFirstCommit(
	{ rest, repo }: Github,
	branch: string,
	edits: readonly Edit[],
	meta: Meta,
	now: Date,
): Promise<string> {
	const found = await dataOrNull(rest.repos.get(repo), "show the repository");
	if (!found) throw new Error("GitHub knows no such repository, or the credentials do not open it");
	if (found.default_branch !== branch) throw new Error(`the repository on GitHub has no branch ${branch}`);
	const [first, ...others] = edits;
	if (!first || first.text === null || others.length > 0) throw new StoreBusy(emptyRepository, 300);
	const asked = rest.repos.createOrUpdateFileContents({
		...repo,
		...authorship(meta, now),
		path: first.path,
		content: btoa(String.fromCharCode(...new TextEncoder().encode(first.text))),
	});
	const { commit } = await dataOf(asked, "make the first commit");
	if (!commit.sha) throw new Error("GitHub names no commit");
	return commit.sha;
}
