import type { stepsOf } from "../decide.ts";
import { authorMail, commitMessage, serviceAuthor } from "../naming.ts";
import { type CommitFiles, type FileEntry, type Folder, memoize } from "../reader.ts";
import type { Edit } from "../store.ts";
import { type Github, GithubBusy, LostAnswer, orNull, Refused } from "./client.ts";

export interface Head {
	commit: string;
	tree: string;
	/** Newest first. */
	recent: PastCommit[];
	files: CommitFiles;
}

export const recentCommits = 20;

type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

/** @throws {Refused} if GitHub shows no such branch */
export async function readHead(github: Github, branch: string): Promise<Head> {
	const { rest, repo } = github;
	// A tag may have the same name.
	const parameters = { ...repo, sha: `refs/heads/${branch}`, per_page: recentCommits };
	const { data } = await rest.repos.listCommits(parameters).catch((error: unknown) => {
		if (!(error instanceof Refused && /repository is empty/i.test(error.words))) throw error;
		throw new GithubBusy(300, "the repository on GitHub has no commit yet: make one", "read-only");
	});
	const [head] = data as [PastCommit];
	const tree = head.commit.tree.sha;
	return { commit: head.sha, tree, recent: data, files: filesAt(github, head.sha, tree) };
}

const maxLagMs = 10_000;

/** A replica of GitHub may answer that our last move of a branch has not reached yet. */
export class Heads {
	readonly #moves = new Map<string, { tip: string; untilMs: number }>();

	constructor(readonly now: () => Date) {}

	/** @throws {Refused} if the read lags behind our last move */
	async find(github: Github, branch: string): Promise<Head> {
		const head = await readHead(github, branch);
		const last = this.#moves.get(branch);
		if (!last || last.untilMs < this.now().getTime() || head.recent.some(({ sha }) => sha === last.tip))
			return head;
		throw new Refused(409, `the branch ${branch}`, "a read lags behind the last change");
	}

	/**
	 * @param isNew replaces an earlier branch of this name
	 * @throws {Refused} if another writer has moved the branch
	 */
	async move(github: Github, branch: string, tip: string, isNew: boolean): Promise<void> {
		const move = isNew ? makeBranch(github, branch, tip) : updateRef(github, branch, tip, { force: false });
		await move.catch(async (error: unknown) => {
			const head = error instanceof LostAnswer ? await readHead(github, branch).catch(() => null) : null;
			if (!head?.recent.some(({ sha }) => sha === tip)) throw error;
		});
		const nowMs = this.now().getTime();
		for (const [name, { untilMs }] of this.#moves) if (untilMs < nowMs) this.#moves.delete(name);
		this.#moves.set(branch, { tip, untilMs: nowMs + maxLagMs });
	}
}

function updateRef({ rest, repo }: Github, branch: string, sha: string, { force }: { force: boolean }) {
	return rest.git.updateRef({ ...repo, ref: `heads/${branch}`, sha, force });
}

async function makeBranch(github: Github, branch: string, sha: string): Promise<void> {
	const { rest, repo } = github;
	await rest.git.createRef({ ...repo, ref: `refs/heads/${branch}`, sha }).catch((error: unknown) => {
		const words = error instanceof Refused ? error.words : "";
		if (/already exists/i.test(words)) return updateRef(github, branch, sha, { force: true });
		if (!/reference update failed/i.test(words)) throw error;
		const [parent] = branch.split("/");
		const why = `a branch ${parent} may be in the way, to be renamed or removed, or a rule`;
		throw new GithubBusy(300, `GitHub does not make the branch ${branch}: ${words}: ${why}`, "read-only");
	});
}

const maxListed = 1000;

/** A batch may have a thousand folders; a workflow's token has a thousand requests an hour. */
const maxFoldersListed = 40;

/** @param root the id of the commit's tree */
function filesAt({ rest, repo }: Github, commit: string, root: string): CommitFiles {
	let listed = 0;
	let allFolders: ReturnType<typeof readFolders> | undefined;

	/** One request, or three for a large folder; two for all after `maxFoldersListed`. */
	async function readFolder(folder: string): Promise<Folder> {
		listed += 1;
		if (listed > maxFoldersListed) allFolders ??= readFolders();
		const folders = await allFolders;
		if (folders) return folders.get(folder) ?? new Map();
		const content = await orNull(rest.repos.getContent({ ...repo, path: `layers/${folder}`, ref: commit }));
		if (!Array.isArray(content)) return new Map();
		if (content.length >= maxListed) return plainFiles((await readTree(await treeAt("layers", folder))).tree);
		// A submodule is listed as a file that cannot be downloaded (REST API, "Get repository content").
		const files = content.filter(({ type, download_url }) => type === "file" && download_url !== null);
		return plainFiles(files.map(({ name, sha }) => ({ path: name, mode: "100644", sha })));
	}

	/** Null if GitHub truncates the list. */
	async function readFolders(): Promise<ReadonlyMap<string, Folder> | null> {
		const { tree, truncated } = await readTree(await treeAt("layers"), "1");
		const folders = new Map<string, Map<string, FileEntry>>();
		for (const [path, file] of plainFiles(tree)) {
			const [folder = "", name, deeper] = path.split("/");
			if (name !== undefined && deeper === undefined)
				folders.set(folder, (folders.get(folder) ?? new Map()).set(name, file));
		}
		return truncated ? null : folders;
	}

	async function treeAt(...names: string[]): Promise<string | null> {
		let id: string | null = root;
		for (const name of names)
			id = (await readTree(id)).tree.find(({ path, type }) => path === name && type === "tree")?.sha ?? null;
		return id;
	}

	async function readTree(tree_sha: string | null, recursive?: string) {
		if (tree_sha === null) return { tree: [], truncated: false };
		return (await rest.git.getTree({ ...repo, tree_sha, recursive })).data;
	}

	async function readBlob(id: string): Promise<string> {
		const { content } = (await rest.git.getBlob({ ...repo, file_sha: id })).data;
		const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
		return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
	}

	return { folder: memoize(readFolder), text: memoize(readBlob) };
}

/** No links and submodules. */
function plainFiles(tree: readonly { path: string; mode: string; sha: string }[]): Map<string, FileEntry> {
	const files = tree.filter(({ mode }) => mode.startsWith("100"));
	return new Map(files.map(({ path, mode, sha }) => [path, { mode, id: sha }]));
}

/** Without steps, none. @returns its id; it is on no branch */
export async function makeCommit(
	github: Github,
	head: Head,
	steps: ReturnType<typeof stepsOf>,
	now: Date,
): Promise<string> {
	const group = steps.map(({ meta }) => meta);
	const [first] = group;
	if (!first) return head.commit;
	const subject = group.length === 1 ? first.subject : `change ${group.length} layers`;
	const edits = steps.flatMap(({ edits }) => edits);
	const { data } = await github.rest.git.createCommit({
		...github.repo,
		message: commitMessage(subject, group),
		author: personAt(first.author, new Date(first.time)),
		committer: personAt(serviceAuthor, now),
		tree: await writeTree(github, head.tree, edits),
		parents: [head.commit],
	});
	return data.sha;
}

/** Git keeps whole seconds. */
function personAt(name: string, time: Date) {
	return { name, email: authorMail(name), date: `${time.toISOString().slice(0, 19)}Z` };
}

/** With about 200 files or 2.5 MB at once GitHub times out: 502, or 422 "Sorry, your request timed out". */
const maxTreeFiles = 100;
const maxTreeBytes = 1_000_000;

/** @returns the id of the tree `base` with the edits */
async function writeTree({ rest, repo }: Github, base: string, edits: readonly Edit[]): Promise<string> {
	let tree = base;
	for (const portion of portionsOf(edits)) {
		const files = portion.map(({ path, text }) => {
			const blob = text === null ? { sha: null } : { content: text };
			return { path, mode: "100644", type: "blob", ...blob } as const;
		});
		tree = (await rest.git.createTree({ ...repo, base_tree: tree, tree: files })).data.sha;
	}
	return tree;
}

function portionsOf(edits: readonly Edit[]): Edit[][] {
	const portions: Edit[][] = [];
	let bytes = 0;
	for (const edit of edits) {
		const size = 2 * (edit.text?.length ?? 0);
		const last = portions.at(-1);
		if (last && last.length < maxTreeFiles && bytes + size <= maxTreeBytes) {
			last.push(edit);
			bytes += size;
		} else {
			portions.push([edit]);
			bytes = size;
		}
	}
	return portions;
}
