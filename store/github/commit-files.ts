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
		const layers = await subtree(root, "layers");
		const large = layers && (await subtree(layers, folder));
		const files = large ? (await readTree(large)).tree.filter(({ mode }) => mode.startsWith("100")) : [];
		return new Map(files.map(({ path, mode, sha: id }) => [path, { mode, id }]));
	}

	/** Every folder under `layers/` by two requests; null if GitHub truncates the list. */
	async function readAllFolders(): Promise<ReadonlyMap<string, Folder> | null> {
		const read = new Map<string, Map<string, FileEntry>>();
		const layers = await subtree(root, "layers");
		const { tree, truncated } = layers ? await readTree(layers, "1") : { tree: [], truncated: false };
		if (truncated) return null;
		for (const { path, mode, sha: id } of tree) {
			const [folder = "", name, ...deeper] = path.split("/");
			if (name === undefined || deeper.length > 0 || !mode.startsWith("100")) continue;
			read.set(folder, (read.get(folder) ?? new Map()).set(name, { mode, id }));
		}
		return read;
	}

	/** The id of a folder in a tree, or null. */
	async function subtree(tree: string, name: string): Promise<string | null> {
		const { tree: entries } = await readTree(tree);
		return entries.find(({ path, type }) => path === name && type === "tree")?.sha ?? null;
	}

	async function readTree(tree_sha: string, recursive?: string) {
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
