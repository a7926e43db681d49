import type { CatFile } from "../../git/cat-file.ts";
import { GitDamage } from "../../git/run.ts";
import { kindOfMode, type TreeEntry } from "../../git/tree.ts";
import { folderMode, type Tree } from "../../git/tree-object.ts";
import type { Trees } from "../../git/trees.ts";
import { WrittenBlobs } from "../../git/written-blobs.ts";
import type { LayerFile } from "../../registry/judge.ts";
import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { blobId } from "../blob-id.ts";
import type { Edit, Layer, LayerIds, Reader } from "../store.ts";

/** The folders of one commit's layers; each is read once, however many ask for it. */
export class CommitFolders {
	readonly #catFile: CatFile;
	readonly #trees: Trees;
	readonly #commit: string;
	readonly #written: WrittenBlobs;
	#folders: Promise<Tree | null> | null = null;
	readonly #read = new Map<string, Promise<Tree | null>>();

	/**
	 * @param catFile reads the files, and `trees` the folders of the same repository
	 * @param written the files that were written by the service, in the canonical form
	 */
	constructor(catFile: CatFile, trees: Trees, commit: string, written = new WrittenBlobs()) {
		this.#written = written;
		this.#catFile = catFile;
		this.#trees = trees;
		this.#commit = commit;
	}

	/** One folder under `layers/`; null where there is none. */
	names(folder: string): Promise<Tree | null> {
		const known = this.#read.get(folder);
		if (known) return known;
		const reading = this.#readFolder(folder);
		this.#read.set(folder, reading);
		return reading;
	}

	/** Whether a file is known to be in the canonical form, by its id. */
	isCanonical(id: string): boolean {
		return this.#written.has(id);
	}

	/** One file of a folder, or null. */
	async file(folder: string, name: string): Promise<LayerFile | null> {
		const entry = (await this.names(folder))?.get(name);
		if (!entry) return null;
		const path = `layers/${folder}/${name}`;
		const kind = kindOfMode(entry.mode);
		if (kind !== "file") return { path, kind, bytes: new Uint8Array(0) };
		const object = await this.#catFile.read(entry.id);
		if (!object) throw new GitDamage(`object ${entry.id} of ${path} is missing`);
		return { path, kind, bytes: object.body };
	}

	async #readFolder(folder: string): Promise<Tree | null> {
		this.#folders ??= this.#readLayers();
		return this.#readTree((await this.#folders)?.get(folder), `layers/${folder}`);
	}

	async #readLayers(): Promise<Tree | null> {
		const { tree } = await this.#trees.ofCommit(this.#commit);
		return this.#readTree(tree.get("layers"), "layers");
	}

	/** @throws {GitDamage} where the repository does not have what it says is there */
	async #readTree(entry: TreeEntry | null | undefined, path: string): Promise<Tree | null> {
		return entry?.mode === folderMode ? this.#trees.read(entry.id, path) : null;
	}
}

/** What is stored at one commit, with changes over it that are not committed yet. */
export class CommitReader implements Reader {
	readonly #folders: CommitFolders;
	/** Folder → name → text, or null where it is removed. */
	readonly #changed = new Map<string, Map<string, string | null>>();

	/** @param folders of the commit; readers of one commit share them */
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
		return { registration, description, isCanonical: this.#isCanonical(smallkey, registration) };
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
		// Whoever reads it afterwards meets the failure, if there is one.
		this.#folders.names(folderOf(smallkey)).catch(() => undefined);
	}

	/** What is changed here is written in the canonical form. */
	#isCanonical(smallkey: string, id: string): boolean {
		const { folder, name } = splitPath(layerPath(smallkey));
		return this.#changed.get(folder)?.has(name) === true || this.#folders.isCanonical(id);
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
		const stored = (await this.#folders.names(folder))?.names() ?? [];
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
