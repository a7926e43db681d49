import type { LayerFile } from "../../registry/judge.ts";
import { type FileEntry, type Folder, readerOf } from "../reader.ts";
import type { CatFile, GitObject } from "./commands/cat-file.ts";
import { GitDamage } from "./commands/run.ts";
import { folderMode, kindOfMode, parseTree } from "./commands/tree.ts";

/** Reads the state at one commit, with later edits that are not committed yet. Each folder is read once. */
export type CommitReader = ReturnType<typeof openReader>;

export function openReader(catFile: Pick<CatFile, "read">, commitId: string) {
	let layers: Promise<Folder> | null = null;
	const folders = new Map<string, Promise<Folder>>();
	const textOf = async (id: string, path: string) => (await object(id, "blob", path)).body.toString("utf8");
	const reader = readerOf({ folder, text: textOf });

	async function file(path: string): Promise<LayerFile | null> {
		const found = await reader.find(path);
		if (found === null) return null;
		if (typeof found === "string") return { path, kind: "file", bytes: Buffer.from(found) };
		const kind = kindOfMode(found.mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		return { path, kind, bytes: (await object(found.id, "blob", path)).body };
	}

	function folder(name: string): Promise<Folder> {
		const known = folders.get(name);
		if (known) return known;
		layers ??= readLayers();
		const reading = layers.then((all) => readTree(all.get(name), `layers/${name}`));
		folders.set(name, reading);
		// After a failure the next call reads again: the repository may have been repaired.
		reading.catch(() => {
			folders.delete(name);
			layers = null;
		});
		return reading;
	}

	async function readLayers(): Promise<Folder> {
		const commit = await object(commitId, "commit", "the branch");
		const root = /^tree ([0-9a-f]{40,64})\n/.exec(commit.body.toString("latin1"))?.[1] ?? "";
		const all = parseTree(await object(root, "tree", "the layers"));
		return readTree(all.get("layers"), "layers");
	}

	async function readTree(entry: FileEntry | undefined, path: string): Promise<Folder> {
		return entry?.mode === folderMode ? parseTree(await object(entry.id, "tree", path)) : new Map();
	}

	/** @throws {GitDamage} if the repository does not have the object */
	async function object(id: string, type: string, path: string): Promise<GitObject> {
		const found = await catFile.read(id);
		if (found?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return found;
	}

	return { ...reader, folder, file };
}
