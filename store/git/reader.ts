import type { CatFile, GitObject } from "../../git/cat-file.ts";
import { GitDamage } from "../../git/run.ts";
import { folderMode, kindOfMode, parseTree, type TreeEntry } from "../../git/tree.ts";
import type { LayerFile } from "../../registry/judge.ts";
import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { blobId } from "../hashes.ts";
import type { Edit, Layer, LayerIds, Reader } from "../store.ts";

/** The entries of one folder by their names. */
type Folder = ReadonlyMap<string, TreeEntry>;

/** The folders of one commit's layers; each is read once. */
export class CommitFolders {
	readonly #catFile: CatFile;
	readonly #commit: string;
	#folders: Promise<Folder | null> | null = null;
	readonly #read = new Map<string, Promise<Folder | null>>();

	constructor(catFile: CatFile, commit: string) {
		this.#catFile = catFile;
		this.#commit = commit;
	}

	/** One folder under `layers/`; null where there is none. */
	names(folder: string): Promise<Folder | null> {
		const known = this.#read.get(folder);
		if (known) return known;
		const reading = this.#readFolder(folder);
		this.#read.set(folder, reading);
		// What is damaged may be repaired by the next time.
		reading.catch(() => {
			this.#read.delete(folder);
			this.#folders = null;
		});
		return reading;
	}

	/** One file of a folder, or null. */
	async file(folder: string, name: string): Promise<LayerFile | null> {
		const entry = (await this.names(folder))?.get(name);
		if (!entry) return null;
		const path = `layers/${folder}/${name}`;
		const kind = kindOfMode(entry.mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		return { path, kind, bytes: (await this.#object(entry.id, "blob", path)).body };
	}

	async #readFolder(folder: string): Promise<Folder | null> {
		this.#folders ??= this.#readLayers();
		return this.#readTree((await this.#folders)?.get(folder), `layers/${folder}`);
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

	/** @throws {GitDamage} where the repository does not have it */
	async #object(id: string, type: string, path: string): Promise<GitObject> {
		const object = await this.#catFile.read(id);
		if (object?.type !== type) throw new GitDamage(`${type} ${id} of ${path} is missing`);
		return object;
	}
}

/** What is stored at one commit, with changes over it that are not committed yet. */
export class CommitReader implements Reader {
	readonly #folders: CommitFolders;
	/** Folder → name → text, or null where it is removed. */
	readonly #changed = new Map<string, Map<string, string | null>>();

	constructor(folders: CommitFolders) {
		this.#folders = folders;
	}

	/** Puts changes over the commit: they are read from now on. */
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
		if (registration === null) return null;
		return { registration, description, isCanonical: this.#isChanged(layerPath(smallkey)) };
	}

	async keys(folder: string): Promise<string[]> {
		return (await this.#smallkeys(folder)).sort();
	}

	/** One file of a layer, or null. */
	async file(path: string): Promise<LayerFile | null> {
		const { folder, name } = splitPath(path);
		const changed = this.#changed.get(folder)?.get(name);
		if (changed === null) return null;
		if (changed !== undefined) return { path, kind: "file", bytes: Buffer.from(changed) };
		return this.#folders.file(folder, name);
	}

	/** The stored smallkeys that are the same but for case, sorted: `["Ab", "ab"]`. */
	async spellings(smallkey: string): Promise<string[]> {
		const lower = smallkey.toLowerCase();
		const keys = await this.#smallkeys(folderOf(smallkey));
		return keys.filter((key) => key.length === lower.length && key.toLowerCase() === lower).sort();
	}

	/** Begins to read what a change of `smallkey` will be decided on. */
	prefetch(smallkey: string): void {
		// A failure is met by what reads it afterwards.
		this.#folders.names(folderOf(smallkey)).catch(() => undefined);
	}

	/** What is changed here is written in the canonical form. */
	#isChanged(path: string): boolean {
		const { folder, name } = splitPath(path);
		return this.#changed.get(folder)?.has(name) === true;
	}

	async #id(path: string): Promise<string | null> {
		const { folder, name } = splitPath(path);
		const changed = this.#changed.get(folder)?.get(name);
		if (changed !== undefined) return changed === null ? null : blobId(changed);
		const entry = (await this.#folders.names(folder))?.get(name);
		return entry && kindOfMode(entry.mode) === "file" ? entry.id : null;
	}

	async #text(path: string): Promise<string | null> {
		const file = await this.file(path);
		return file?.kind === "file" ? Buffer.from(file.bytes).toString("utf8") : null;
	}

	async #smallkeys(folder: string): Promise<string[]> {
		const smallkeys: string[] = [];
		for (const name of await this.#names(folder)) {
			if (!name.endsWith(".json")) continue;
			const stem = name.slice(0, -".json".length);
			if (parseSmallkey(stem) !== null) smallkeys.push(stem);
		}
		return smallkeys;
	}

	/** The names of a folder's files. */
	async #names(folder: string): Promise<Iterable<string>> {
		const stored = (await this.#folders.names(folder))?.keys() ?? [];
		const changed = this.#changed.get(folder);
		if (!changed) return stored;
		const names = new Set(stored);
		for (const [name, text] of changed) {
			if (text === null) names.delete(name);
			else names.add(name);
		}
		return names;
	}
}

/** The folder under `layers/` and the name of a path such as `layers/23/23ax5t.json`. */
function splitPath(path: string): { folder: string; name: string } {
	const slash = path.lastIndexOf("/");
	return { folder: path.slice("layers/".length, slash), name: path.slice(slash + 1) };
}
