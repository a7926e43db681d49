import type { CatFile, GitObject } from "../../git/cat-file.ts";
import { GitDamage } from "../../git/run.ts";
import { folderMode, kindOfMode, parseTree, type TreeEntry } from "../../git/tree.ts";
import type { LayerFile } from "../../registry/judge.ts";
import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { blobId } from "../hashes.ts";
import type { Edit, Layer, LayerIds } from "../store.ts";

/** The entries of one folder by their names. */
type Folder = ReadonlyMap<string, TreeEntry>;

/** Reads the state at one commit, with later edits that are not committed yet. Each folder is read once. */
export type CommitReader = ReturnType<typeof readerOf>;

export function readerOf(catFile: Pick<CatFile, "read">, commitId: string) {
	let layers: Promise<Folder | null> | null = null;
	const folders = new Map<string, Promise<Folder | null>>();
	/** Folder → name → new text, or null if the file is removed. */
	const changed = new Map<string, Map<string, string | null>>();

	/** Adds edits to the state: they are read from now on. */
	function overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const { folder, name } = splitPath(path);
			const names = changed.get(folder) ?? new Map<string, string | null>();
			changed.set(folder, names.set(name, text));
		}
	}

	async function read(smallkey: string): Promise<Layer | null> {
		const paths = [layerPath(smallkey), descriptionPath(smallkey)];
		const [registration = null, description = null] = await Promise.all(paths.map(textOf));
		return registration === null ? null : { registration, description };
	}

	async function ids(smallkey: string): Promise<LayerIds | null> {
		const paths = [layerPath(smallkey), descriptionPath(smallkey)];
		const [registration = null, description = null] = await Promise.all(paths.map(idOf));
		// A changed registration is always written in the canonical form.
		const isCanonical = changedText(layerPath(smallkey)) !== undefined;
		return registration === null ? null : { registration, description, isCanonical };
	}

	async function keys(folder: string): Promise<string[]> {
		const names = new Set((await entriesOf(folder))?.keys());
		for (const [name, text] of changed.get(folder) ?? []) {
			if (text === null) names.delete(name);
			else names.add(name);
		}
		const stems = [...names].flatMap((name) =>
			name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
		);
		return stems.filter((stem) => parseSmallkey(stem) !== null).sort();
	}

	/** One file of a layer, or null. */
	async function file(path: string): Promise<LayerFile | null> {
		const text = changedText(path);
		if (text === null) return null;
		if (text !== undefined) return { path, kind: "file", bytes: Buffer.from(text) };
		const entry = await entryOf(path);
		if (!entry) return null;
		const kind = kindOfMode(entry.mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		return { path, kind, bytes: (await object(entry.id, "blob", path)).body };
	}

	/** The stored smallkeys that equal a smallkey except for case, sorted: `["Ab", "ab"]`. */
	async function spellings(smallkey: string): Promise<string[]> {
		const lower = smallkey.toLowerCase();
		const found = await keys(folderOf(smallkey));
		return found.filter((key) => key.length === lower.length && key.toLowerCase() === lower);
	}

	/** Begins to read the state that a change of `smallkey` will be judged on. */
	function prefetch(smallkey: string): void {
		// The next reader of this promise handles the failure.
		entriesOf(folderOf(smallkey)).catch(() => undefined);
	}

	/** The new text of a file; null if it is removed, undefined if it has not changed since the commit. */
	function changedText(path: string): string | null | undefined {
		const { folder, name } = splitPath(path);
		return changed.get(folder)?.get(name);
	}

	async function idOf(path: string): Promise<string | null> {
		const text = changedText(path);
		if (text !== undefined) return text === null ? null : blobId(text);
		const entry = await entryOf(path);
		return entry && kindOfMode(entry.mode) === "file" ? entry.id : null;
	}

	async function textOf(path: string): Promise<string | null> {
		const found = await file(path);
		return found?.kind === "file" ? Buffer.from(found.bytes).toString("utf8") : null;
	}

	async function entryOf(path: string): Promise<TreeEntry | undefined> {
		const { folder, name } = splitPath(path);
		return (await entriesOf(folder))?.get(name);
	}

	/** One folder under `layers/` of the commit; null if it does not exist. */
	function entriesOf(folder: string): Promise<Folder | null> {
		const known = folders.get(folder);
		if (known) return known;
		layers ??= readLayers();
		const reading = layers.then((all) => readTree(all?.get(folder), `layers/${folder}`));
		folders.set(folder, reading);
		// After a failure the next call reads again: the repository may have been repaired.
		reading.catch(() => {
			folders.delete(folder);
			layers = null;
		});
		return reading;
	}

	async function readLayers(): Promise<Folder | null> {
		const commit = await object(commitId, "commit", "the branch");
		const root = /^tree ([0-9a-f]{40,64})\n/.exec(commit.body.toString("latin1"))?.[1] ?? "";
		const all = parseTree(await object(root, "tree", "the layers"));
		return readTree(all.get("layers"), "layers");
	}

	async function readTree(entry: TreeEntry | undefined, path: string): Promise<Folder | null> {
		return entry?.mode === folderMode ? parseTree(await object(entry.id, "tree", path)) : null;
	}

	/** @throws {GitDamage} if the repository does not have the object */
	async function object(id: string, type: string, path: string): Promise<GitObject> {
		const found = await catFile.read(id);
		if (found?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return found;
	}

	return { overlay, read, ids, keys, file, spellings, prefetch };
}

/** The folder under `layers/` and the name of a path such as `layers/23/23ax5t.json`. */
function splitPath(path: string): { folder: string; name: string } {
	const slash = path.lastIndexOf("/");
	return { folder: path.slice("layers/".length, slash), name: path.slice(slash + 1) };
}
