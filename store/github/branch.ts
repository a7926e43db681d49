import { layerPath } from "../../registry/smallkey.ts";
import type { CommitFiles, FileEntry, Folder } from "../reader.ts";
import { type Meta, requestMemoryMs, StoreBusy } from "../store.ts";
import { type Github, GithubBusy, orNull, Refused } from "./client.ts";

/** The newest commit of a branch. */
export interface Head {
	commit: string;
	tree: string;
	/** The branch's newest commits, this one first. */
	recent: PastCommit[];
	files: CommitFiles;
}

/** In a quiet repository, `wasUsed` needs no other commits. */
const recentCommits = 20;

type PastCommit = Awaited<ReturnType<Github["rest"]["repos"]["listCommits"]>>["data"][number];

/** The head of a branch; null if the repository is empty. @throws {Refused} if GitHub shows no such branch */
export async function readHead(github: Github, branch: string): Promise<Head | null> {
	const { rest, repo } = github;
	// A tag may have the same name.
	const parameters = { ...repo, sha: `refs/heads/${branch}`, per_page: recentCommits };
	const listed = await rest.repos.listCommits(parameters).catch((error: unknown) => {
		if (error instanceof Refused && /repository is empty/i.test(error.words)) return null;
		throw error;
	});
	if (!listed?.data[0]) return null;
	const { sha, commit } = listed.data[0];
	return {
		commit: sha,
		tree: commit.tree.sha,
		recent: listed.data,
		files: filesAt(github, sha, commit.tree.sha),
	};
}

const maxLagMs = 10_000;

/** Reads the heads of branches. GitHub may answer a read from a replica that our last write has not reached yet. */
export class Heads {
	/** Branch → the commit to which we have moved it last, and until when a read may lag behind. */
	readonly #moved = new Map<string, { tip: string; until: number }>();

	constructor(readonly now: () => Date) {}

	/** The head of a branch; null if the repository is empty. @throws {Refused} if the read lags behind our last move */
	async find(github: Github, branch: string): Promise<Head | null> {
		const head = await readHead(github, branch);
		const last = this.#moved.get(branch);
		if (!last || last.until < this.now().getTime() || head?.recent.some(({ sha }) => sha === last.tip))
			return head;
		throw new Refused(409, `the branch ${branch}`, "a read lags behind the last change");
	}

	noteMoved(branch: string, tip: string): void {
		const time = this.now().getTime();
		for (const [other, { until }] of this.#moved) if (until < time) this.#moved.delete(other);
		this.#moved.set(branch, { tip, until: time + maxLagMs });
	}
}

/** Most commits of one layer that are read: 100 in five minutes are no publisher's. */
const maxCommits = 100;

/**
 * Whether a change's signature was used in the last five minutes, by this process or another one.
 * @throws {StoreBusy} if the history cannot be read, so that this is not known
 */
export async function wasUsed({ rest, repo }: Github, head: Head, meta: Meta, now: Date): Promise<boolean> {
	const { request, smallkey } = meta;
	if (request === null) return false;
	const isCarrier = ({ commit }: PastCommit) => commit.message.split("\n").includes(`Request: ${request}`);
	const from = now.getTime() - requestMemoryMs;
	const lately = head.recent.filter(({ commit }) => Date.parse(commit.committer?.date ?? "") >= from);
	if (lately.some(isCarrier)) return true;
	if (lately.length < recentCommits || smallkey === null) return false;
	const about = { path: layerPath(smallkey), since: new Date(from).toISOString(), per_page: maxCommits };
	try {
		const { data } = await rest.repos.listCommits({ ...repo, ...about, sha: head.commit });
		if (data.length === maxCommits) throw new Error(`${about.path}: has too many commits`);
		return data.some(isCarrier);
	} catch (error) {
		if (error instanceof StoreBusy) throw error;
		throw new GithubBusy(15, `the replay guard: ${(error as Error).message}`);
	}
}

/** The contents API lists at most this many files of a folder, and does not say that there are more. */
const maxListed = 1000;

/** Most folders that are listed one by one; then all of them are read at once. */
const maxFoldersListed = 40;

/** The files of a repository without commits. */
export const noFiles: CommitFiles = { folder: async () => new Map(), text: async () => "" };

/**
 * The files of exactly one commit, even if the branch moves. Each folder and file is read once.
 * @param root the id of the commit's tree
 */
export function filesAt({ rest, repo }: Github, commit: string, root: string): CommitFiles {
	let listed = 0;
	let all: Promise<ReadonlyMap<string, Folder> | null> | null = null;

	async function readFolder(folder: string): Promise<Folder> {
		if (listed >= maxFoldersListed) all ??= readAllFolders();
		listed += 1;
		const read = await all;
		return read ? (read.get(folder) ?? new Map()) : listFolder(folder);
	}

	/** One request, or three if the folder is large. Folders and links in it are left out. */
	async function listFolder(folder: string): Promise<Folder> {
		const content = await orNull(rest.repos.getContent({ ...repo, path: `layers/${folder}`, ref: commit }));
		if (!Array.isArray(content)) return new Map();
		if (content.length < maxListed) {
			const files = content.filter(({ type }) => type === "file");
			return new Map(files.map(({ name, sha: id }) => [name, { mode: "100644", id }]));
		}
		const files = (await readTree(await treeAt("layers", folder))).tree.filter(isPlain);
		return new Map(files.map(({ path, mode, sha: id }) => [path, { mode, id }]));
	}

	/** Every folder under `layers/` by two requests; null if GitHub truncates the list. */
	async function readAllFolders(): Promise<ReadonlyMap<string, Folder> | null> {
		const read = new Map<string, Map<string, FileEntry>>();
		const { tree, truncated } = await readTree(await treeAt("layers"), "1");
		if (truncated) return null;
		for (const { path, mode, sha: id } of tree.filter(isPlain)) {
			const [folder = "", name, ...deeper] = path.split("/");
			if (name === undefined || deeper.length > 0) continue;
			read.set(folder, (read.get(folder) ?? new Map()).set(name, { mode, id }));
		}
		return read;
	}

	/** The id of a folder's tree; null if there is no such folder. */
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

	return { folder: once(readFolder), text: once(readBlob) };
}

function isPlain({ mode }: { mode: string }): boolean {
	return mode.startsWith("100");
}

/** Reads each key once. */
function once<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
	const values = new Map<string, Promise<T>>();
	return (key) => {
		const value = values.get(key) ?? read(key);
		values.set(key, value);
		return value;
	};
}
