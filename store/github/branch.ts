import { type CommitFiles, type FileEntry, type Folder, memoize } from "../reader.ts";
import { type Github, GithubBusy, orNull, Refused } from "./client.ts";

export interface Head {
	commit: string;
	tree: string;
	/** The newest first. */
	recent: PastCommit[];
	files: CommitFiles;
}

export const recentCommits = 20;

export type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

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

/** GitHub may answer from a replica that our last move of a branch has not reached yet. */
export class Heads {
	readonly #moves = new Map<string, { tip: string; until: number }>();

	constructor(readonly now: () => Date) {}

	/** @throws {Refused} if the read lags behind our last move */
	async find(github: Github, branch: string): Promise<Head> {
		const head = await readHead(github, branch);
		const last = this.#moves.get(branch);
		if (!last || last.until < this.now().getTime() || head.recent.some(({ sha }) => sha === last.tip))
			return head;
		throw new Refused(409, `the branch ${branch}`, "a read lags behind the last change");
	}

	/**
	 * @param isNew whether the branch is made; one of this name that is left from earlier is replaced
	 * @throws {Refused} if another writer has moved the branch in the meantime
	 */
	async move(github: Github, branch: string, tip: string, isNew: boolean): Promise<void> {
		await (isNew ? makeBranch(github, branch, tip) : updateRef(github, branch, tip, false));
		const nowMs = this.now().getTime();
		for (const [name, { until }] of this.#moves) if (until < nowMs) this.#moves.delete(name);
		this.#moves.set(branch, { tip, until: nowMs + maxLagMs });
	}
}

function updateRef({ rest, repo }: Github, branch: string, sha: string, force: boolean) {
	return rest.git.updateRef({ ...repo, ref: `heads/${branch}`, sha, force });
}

async function makeBranch(github: Github, branch: string, sha: string): Promise<void> {
	const { rest, repo } = github;
	await rest.git.createRef({ ...repo, ref: `refs/heads/${branch}`, sha }).catch((error: unknown) => {
		const words = error instanceof Refused ? error.words : "";
		if (/already exists/i.test(words)) return updateRef(github, branch, sha, true);
		// A branch `a` forbids a branch `a/b`, and a rule of the repository may forbid it.
		if (!/reference update failed/i.test(words)) throw error;
		const [parent] = branch.split("/");
		const why = `a branch ${parent} may be in the way, to be renamed or removed, or a rule`;
		throw new GithubBusy(300, `GitHub does not make the branch ${branch}: ${words}: ${why}`, "read-only");
	});
}

const maxListed = 1000;

/** A batch may be in a thousand folders, and a workflow's token has a thousand requests an hour. */
const maxFoldersListed = 40;

/** Each folder and file is read once. @param root the id of the commit's tree */
function filesAt({ rest, repo }: Github, commit: string, root: string): CommitFiles {
	let listed = 0;
	let allFolders: ReturnType<typeof readFolders> | undefined;

	/** One request, or three if the folder is large; two for all folders that follow the first ones. */
	async function readFolder(folder: string): Promise<Folder> {
		listed += 1;
		if (listed > maxFoldersListed) allFolders ??= readFolders();
		const folders = await allFolders;
		if (folders) return folders.get(folder) ?? new Map();
		const content = await orNull(rest.repos.getContent({ ...repo, path: `layers/${folder}`, ref: commit }));
		if (!Array.isArray(content)) return new Map();
		if (content.length >= maxListed) return plainFiles((await readTree(await treeAt("layers", folder))).tree);
		const files = content.filter(({ type }) => type === "file");
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

/** Without folders, links and submodules. */
function plainFiles(tree: readonly { path: string; mode: string; sha: string }[]): Map<string, FileEntry> {
	const files = tree.filter(({ mode }) => mode.startsWith("100"));
	return new Map(files.map(({ path, mode, sha }) => [path, { mode, id: sha }]));
}
