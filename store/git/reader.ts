import type { CatFile, GitObject } from "../../git/cat-file.ts";
import { GitDamage } from "../../git/run.ts";
import { folderMode, kindOfMode, parseTree, type TreeEntry } from "../../git/tree.ts";
import type { LayerFile } from "../../registry/judge.ts";
import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { blobId } from "../hashes.ts";
import type { Edit, Layer, LayerIds, Reader } from "../store.ts";

/** The entries of one folder by their names. */
type Folder = ReadonlyMap<string, TreeEntry>;

/** Reads the state at one commit, with later edits that are not committed yet. Each folder is read once. */
export class CommitReader implements Reader {
	readonly #catFile: CatFile;
	readonly #commit: string;
	#layers: Promise<Folder | null> | null = null;
	readonly #folders = new Map<string, Promise<Folder | null>>();
	/** Folder → name → new text, or null if the file is removed. */
	readonly #changed = new Map<string, Map<string, string | null>>();

	constructor(catFile: CatFile, commit: string) {
		this.#catFile = catFile;
		this.#commit = commit;
	}

	/** Adds edits to the state: they are read from now on. */
	overlay(edits: readonly Edit[]): void {
		for (const { path, text } of edits) {
			const { folder, name } = splitPath(path);
			const names = this.#changed.get(folder) ?? new Map<string, string | null>();
			this.#changed.set(folder, names.set(name, text));
		}
	}

	async read(smallkey: string): Promise<Layer | null> {
		const [registration, description] = await Promise.all([
			this.#text(layerPath(smallkey)),
			this.#text(descriptionPath(smallkey)),
		]);
		return registration === null ? null : { registration, description };
	}

	async ids(smallkey: string): Promise<LayerIds | null> {
		const [registration, description] = await Promise.all([
			this.#id(layerPath(smallkey)),
			this.#id(descriptionPath(smallkey)),
		]);
		// A changed registration is always written in the canonical form.
		const isCanonical = this.#changedText(layerPath(smallkey)) !== undefined;
		return registration === null ? null : { registration, description, isCanonical };
	}

	async keys(folder: string): Promise<string[]> {
		const names = await this.names(folder);
		const stems = names.flatMap((name) => (name.endsWith(".json") ? [name.slice(0, -".json".length)] : []));
		return stems.filter((stem) => parseSmallkey(stem) !== null).sort();
	}

	/** The names of a folder's files. */
	async names(folder: string): Promise<string[]> {
		const names = new Set((await this.#entries(folder))?.keys());
		for (const [name, text] of this.#changed.get(folder) ?? []) {
			if (text === null) names.delete(name);
			else names.add(name);
		}
		return [...names];
	}

	/** One file of a layer, or null. */
	async file(path: string): Promise<LayerFile | null> {
		const changed = this.#changedText(path);
		if (changed === null) return null;
		if (changed !== undefined) return { path, kind: "file", bytes: Buffer.from(changed) };
		const entry = await this.#entry(path);
		if (!entry) return null;
		const kind = kindOfMode(entry.mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		return { path, kind, bytes: (await this.#object(entry.id, "blob", path)).body };
	}

	/** The stored smallkeys that equal a smallkey except for case, sorted: `["Ab", "ab"]`. */
	async spellings(smallkey: string): Promise<string[]> {
		const lower = smallkey.toLowerCase();
		const keys = await this.keys(folderOf(smallkey));
		return keys.filter((key) => key.length === lower.length && key.toLowerCase() === lower);
	}

	/** Begins to read the state that a change of `smallkey` will be judged on. */
	prefetch(smallkey: string): void {
		// The next reader of this promise handles the failure.
		this.#entries(folderOf(smallkey)).catch(() => undefined);
	}

	/** The new text of a file; null if it is removed, undefined if it has not changed since the commit. */
	#changedText(path: string): string | null | undefined {
		const { folder, name } = splitPath(path);
		return this.#changed.get(folder)?.get(name);
	}

	async #id(path: string): Promise<string | null> {
		const changed = this.#changedText(path);
		if (changed !== undefined) return changed === null ? null : blobId(changed);
		const entry = await this.#entry(path);
		return entry && kindOfMode(entry.mode) === "file" ? entry.id : null;
	}

	async #text(path: string): Promise<string | null> {
		const file = await this.file(path);
		return file?.kind === "file" ? Buffer.from(file.bytes).toString("utf8") : null;
	}

	async #entry(path: string): Promise<TreeEntry | undefined> {
		const { folder, name } = splitPath(path);
		return (await this.#entries(folder))?.get(name);
	}

	/** One folder under `layers/` of the commit; null if it does not exist. */
	#entries(folder: string): Promise<Folder | null> {
		const known = this.#folders.get(folder);
		if (known) return known;
		const reading = this.#readFolder(folder);
		this.#folders.set(folder, reading);
		// After a failure the next call reads again: the repository may have been repaired.
		reading.catch(() => {
			this.#folders.delete(folder);
			this.#layers = null;
		});
		return reading;
	}

	async #readFolder(folder: string): Promise<Folder | null> {
		this.#layers ??= this.#readLayers();
		return this.#readTree((await this.#layers)?.get(folder), `layers/${folder}`);
	}

	async #readLayers(): Promise<Folder | null> {
		const commit = await this.#object(this.#commit, "commit", "the branch");
		const root = /^tree ([0-9a-f]{40,64})\n/.exec(commit.body.toString("latin1"))?.[1] ?? "";
		const folders = parseTree(await this.#object(root, "tree", "the layers"));
		return this.#readTree(folders.get("layers"), "layers");
	}

	async #readTree(entry: TreeEntry | undefined, path: string): Promise<Folder | null> {
		return entry?.mode === folderMode ? parseTree(await this.#object(entry.id, "tree", path)) : null;
	}

	/** @throws {GitDamage} if the repository does not have the object */
	async #object(id: string, type: string, path: string): Promise<GitObject> {
		const object = await this.#catFile.read(id);
		if (object?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return object;
	}
}

/** The folder under `layers/` and the name of a path such as `layers/23/23ax5t.json`. */
function splitPath(path: string): { folder: string; name: string } {
	const slash = path.lastIndexOf("/");
	return { folder: path.slice("layers/".length, slash), name: path.slice(slash + 1) };
}
