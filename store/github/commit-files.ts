import type { CommitFiles, Folder } from "../reader.ts";
import { dataOf, dataOrNull, type Github } from "./answer.ts";
import type { Head } from "./history.ts";

/** The contents API lists at most this many files of a folder, and does not say that there are more. */
const maxListed = 1000;

/** Most folders that are listed one by one; then all of them are read at once. */
const maxFoldersListed = 40;

/** The mode of a plain file. The contents API names no modes. */
const plainMode = "100644";

/**
 * The files of exactly one commit, even if the branch moves. Each folder and file is read once.
 * @param head null: there are no files
 */
export function filesAt({ rest, repo }: Github, head: Head | null): CommitFiles {
	const folders = new Map<string, Promise<Folder>>();
	const texts = new Map<string, Promise<string>>();
	let all: Promise<ReadonlyMap<string, Folder> | null> | null = null;

	async function readFolder(folder: string): Promise<Folder> {
		if (!head) return new Map();
		if (folders.size < maxFoldersListed) return listFolder(head, folder);
		all ??= readAllFolders(head);
		const found = await all;
		return found ? (found.get(folder) ?? new Map()) : listFolder(head, folder);
	}

	/** One request, or three if the folder is large. */
	async function listFolder({ commit, tree }: Head, folder: string): Promise<Folder> {
		const asked = rest.repos.getContent({ ...repo, path: `layers/${folder}`, ref: commit });
		const data = await dataOrNull(asked, "list a folder");
		if (!Array.isArray(data)) return new Map();
		if (data.length < maxListed) {
			const files = data.filter(({ type }) => type === "file");
			return new Map(files.map(({ name, sha: id }) => [name, { mode: plainMode, id }]));
		}
		const layers = await subtree(tree, "layers");
		const found = layers && (await subtree(layers, folder));
		const entries = found ? (await readTree(found)).tree : [];
		return new Map(entries.map(({ path, mode, sha: id }) => [path, { mode, id }]));
	}

	/** Every folder under `layers/` by two requests; null if GitHub truncates the list. */
	async function readAllFolders({ tree: root }: Head): Promise<ReadonlyMap<string, Folder> | null> {
		const layers = await subtree(root, "layers");
		if (!layers) return new Map();
		const { tree, truncated } = await readTree(layers, "1");
		if (truncated) return null;
		const found = new Map<string, Map<string, { mode: string; id: string }>>();
		for (const { path, mode, sha: id } of tree) {
			const [folder = "", name, ...deeper] = path.split("/");
			if (name === undefined || deeper.length > 0) continue;
			found.set(folder, (found.get(folder) ?? new Map()).set(name, { mode, id }));
		}
		return found;
	}

	/** The id of a folder in a tree, or null. */
	async function subtree(tree: string, name: string): Promise<string | null> {
		const { tree: entries } = await readTree(tree);
		return entries.find(({ path, type }) => path === name && type === "tree")?.sha ?? null;
	}

	function readTree(tree_sha: string, recursive?: string) {
		return dataOf(rest.git.getTree({ ...repo, tree_sha, recursive }), `show the tree ${tree_sha}`);
	}

	async function readBlob(id: string): Promise<string> {
		const { content } = await dataOf(rest.git.getBlob({ ...repo, file_sha: id }), `show the blob ${id}`);
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
