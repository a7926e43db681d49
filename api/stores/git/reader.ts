import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../../registry/smallkey.ts";
import type { CatFile, GitObject } from "../../git/cat-file.ts";
import { parseTree } from "../../git/tree.ts";
import type { Edit, Layer, Reader } from "../../store.ts";

/** A tree: the names in it, each with the reader of its id. */
type Folder = ReadonlyMap<string, () => string>;

/**
 * What is stored at one commit, with changes laid over it that are not committed yet. Each tree is read once: many
 * changes that are decided together ask for it together.
 */
export class CommitReader implements Reader {
	readonly #catFile: CatFile;
	readonly #commit: string;
	/** Folder → name → text, or null where it is removed. */
	readonly #changed = new Map<string, Map<string, string | null>>();
	#folders: Promise<Folder> | null = null;
	readonly #read = new Map<string, Promise<Folder>>();

	constructor(catFile: CatFile, commit: string) {
		this.#catFile = catFile;
		this.#commit = commit;
	}

	/** Lays changes over the commit: they are read from now on. */
	lay(edits: Edit[]): void {
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

	async keys(folder: string): Promise<string[]> {
		const names = new Set((await this.#folder(folder)).keys());
		for (const [name, text] of this.#changed.get(folder) ?? []) {
			if (text === null) names.delete(name);
			else names.add(name);
		}
		const stems = Array.from(names, (name) => (name.endsWith(".json") ? name.slice(0, -5) : ""));
		return stems.filter((stem) => parseSmallkey(stem) !== null).sort();
	}

	/** Begins to read what a change of `smallkey` will be decided on. */
	prefetch(smallkey: string): void {
		// Whoever reads it afterwards meets the failure, if there is one.
		this.#folder(folderOf(smallkey)).catch(() => undefined);
	}

	async #text(path: string): Promise<string | null> {
		const { folder, name } = splitPath(path);
		const changed = this.#changed.get(folder)?.get(name);
		if (changed !== undefined) return changed;
		const object = await this.#readFile(folder, name);
		return object?.type === "blob" ? object.body.toString("utf8") : null;
	}

	/** A file of a folder; found by its id where the folder was read before. */
	async #readFile(folder: string, name: string): Promise<GitObject | null> {
		const known = await this.#read.get(folder);
		if (!known) return this.#catFile.read(`${this.#commit}:layers/${folder}/${name}`);
		const id = known.get(name)?.();
		return id === undefined ? null : this.#catFile.read(id);
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

/** The folder under `layers/` and the name of a path such as `layers/23/23ax5t.json`. */
function splitPath(path: string): { folder: string; name: string } {
	const slash = path.lastIndexOf("/");
	return { folder: path.slice("layers/".length, slash), name: path.slice(slash + 1) };
}
