import type { CommitFiles, FileEntry, Folder } from "../reader.ts";
import { type Github, orNull } from "./client.ts";

/** The contents API lists at most this many files of a folder, and does not say that there are more. */
const maxListed = 1000;

/** Most folders that are listed one by one; then all of them are read at once. */
const maxFoldersListed = 40;

/** The contents API names no modes. */
const plainMode = "100644";

/** The files of a repository without commits. */
export const noFiles: CommitFiles = { folder: async () => new Map(), text: async () => "" };

/**
 * The files of exactly one commit, even if the branch moves. Each folder and file is read once.
 * @param root the id of the commit's tree
 */
export function filesAt({ rest, repo }: Github, commit: string, root: string): CommitFiles {
	const folders = new Map<string, Promise<Folder>>();
	const texts = new Map<string, Promise<string>>();
	let all: Promise<ReadonlyMap<string, Folder> | null> | null = null;

	async function readFolder(folder: string): Promise<Folder> {
		if (folders.size >= maxFoldersListed) all ??= readAllFolders();
		const read = await all;
		return read ? (read.get(folder) ?? new Map()) : listFolder(folder);
	}

	/** One request, or three if the folder is large. Folders and links in it are left out. */
	async function listFolder(folder: string): Promise<Folder> {
		const content = await orNull(rest.repos.getContent({ ...repo, path: `layers/${folder}`, ref: commit }));
		if (!Array.isArray(content)) return new Map();
		if (content.length < maxListed) {
			const files = content.filter(({ type }) => type === "file");
			return new Map(files.map(({ name, sha: id }) => [name, { mode: plainMode, id }]));
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

	return {
		folder: (folder) => once(folders, folder, readFolder),
		text: (id) => once(texts, id, readBlob),
	};
}

function isPlain({ mode }: { mode: string }): boolean {
	return mode.startsWith("100");
}

/** The value of a key, which is read once. */
function once<T>(
	values: Map<string, Promise<T>>,
	key: string,
	read: (key: string) => Promise<T>,
): Promise<T> {
	const value = values.get(key) ?? read(key);
	values.set(key, value);
	return value;
}
