import { type CommitFiles, type FileEntry, type Folder, memoize } from "../reader.ts";
import { type Github, orNull } from "./client.ts";

const maxListed = 1000;

/** A batch may be in a thousand folders, and a workflow's token has a thousand requests an hour. */
const maxFoldersListed = 40;

/** Each folder and file is read once. @param root the id of the commit's tree */
export function filesAt({ rest, repo }: Github, commit: string, root: string): CommitFiles {
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
