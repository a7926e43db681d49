import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../smallkey.ts";
import type { Layer, Reader } from "../../store.ts";
import type { CatFile } from "./cat-file.ts";
import { parseTree } from "./tree.ts";

/** A tree: the names in it, each with the reader of its id. */
type Folder = ReadonlyMap<string, () => string>;

/**
 * What is stored at one commit, with changes laid over it that are not committed yet. Each tree is read once: many
 * changes that are decided together ask for it together.
 */
export class CommitReader implements Reader {
	readonly #catFile: CatFile;
	readonly #commit: string;
	/** Path → text, or null where it is removed. */
	readonly #changed: ReadonlyMap<string, string | null>;
	#folders: Promise<Folder> | null = null;
	readonly #read = new Map<string, Promise<Folder>>();

	constructor(catFile: CatFile, commit: string, changed: ReadonlyMap<string, string | null> = new Map()) {
		this.#catFile = catFile;
		this.#commit = commit;
		this.#changed = changed;
	}

	async read(smallkey: string): Promise<Layer | null> {
		const [registration, description] = await Promise.all([
			this.#text(smallkey, layerPath(smallkey)),
			this.#text(smallkey, descriptionPath(smallkey)),
		]);
		return registration === null ? null : { registration, description };
	}

	async keys(folder: string): Promise<string[]> {
		const names = new Set((await this.#folder(folder)).keys());
		const start = `layers/${folder}/`;
		for (const [path, text] of this.#changed) {
			if (!path.startsWith(start)) continue;
			if (text === null) names.delete(path.slice(start.length));
			else names.add(path.slice(start.length));
		}
		const stems = Array.from(names, (name) => (name.endsWith(".json") ? name.slice(0, -5) : ""));
		return stems.filter((stem) => parseSmallkey(stem) !== null).sort();
	}

	/** Begins to read what a change of `smallkey` will be decided on. */
	prefetch(smallkey: string): void {
		// Whoever reads it afterwards meets the failure, if there is one.
		this.#folder(folderOf(smallkey)).catch(() => undefined);
	}

	async #text(smallkey: string, path: string): Promise<string | null> {
		const changed = this.#changed.get(path);
		if (changed !== undefined) return changed;
		const name = await this.#nameOf(smallkey, path);
		const object = name === null ? null : await this.#catFile.read(name);
		return object?.type === "blob" ? object.body.toString("utf8") : null;
	}

	/** What git finds a file's content by, or null where its folder was read and has no such file. */
	async #nameOf(smallkey: string, path: string): Promise<string | null> {
		const folder = await this.#read.get(folderOf(smallkey));
		if (!folder) return `${this.#commit}:${path}`;
		return folder.get(path.slice(path.lastIndexOf("/") + 1))?.() ?? null;
	}

	#folder(folder: string): Promise<Folder> {
		const known = this.#read.get(folder);
		if (known) return known;
		const reading = this.#readFolder(folder);
		this.#read.set(folder, reading);
		return reading;
	}

	async #readFolder(folder: string): Promise<Folder> {
		this.#folders ??= this.#readTree(`${this.#commit}:layers`);
		const id = (await this.#folders).get(folder)?.();
		return id === undefined ? new Map() : this.#readTree(id);
	}

	async #readTree(name: string): Promise<Folder> {
		const tree = await this.#catFile.read(name);
		if (tree?.type !== "tree") return new Map();
		return parseTree(tree.body);
	}
}
