import { posix } from "node:path";
import { CatFile } from "../git/cat-file.ts";
import { folderMode, kindOfMode, type PathChange, parseTree, readBlob, type TreeEntry } from "../git/tree.ts";
import type { LayerFile } from "../registry/catalogue.ts";

const { basename, dirname } = posix;

/** Some files of one commit, all read by one process of git's: to start one takes longer than to read the few files. */
export class CommitFiles {
	readonly #catFile: CatFile;
	readonly #commit: string;

	/** @param commit its full id */
	constructor(repository: string, commit: string) {
		this.#catFile = new CatFile(repository);
		this.#commit = commit;
	}

	/**
	 * The files in some folders, without what is in folders below them, sorted by path: as changes from nothing.
	 * @param folders such as `layers/23`; none of one that is not there
	 */
	async list(folders: readonly string[]): Promise<PathChange[]> {
		const lists = await Promise.all(folders.map((folder) => this.#listFolder(folder)));
		return lists.flat().sort((a, b) => (a.path < b.path ? -1 : 1));
	}

	async #listFolder(folder: string): Promise<PathChange[]> {
		const tree = await this.#tree(folder);
		return tree ? [...tree.keys()].flatMap((name) => fileIn(tree, folder, name)) : [];
	}

	/** Files by their paths, in their order: those that are there. */
	async find(paths: readonly string[]): Promise<PathChange[]> {
		const trees = new Map<string, Map<string, TreeEntry> | null>();
		for (const folder of new Set(paths.map(dirname))) trees.set(folder, await this.#tree(folder));
		return paths.flatMap((path) => fileIn(trees.get(dirname(path)) ?? null, dirname(path), basename(path)));
	}

	async #tree(folder: string): Promise<Map<string, TreeEntry> | null> {
		const object = await this.#catFile.read(`${this.#commit}:${folder}`);
		return object?.type === "tree" ? parseTree(object) : null;
	}

	/** The content of listed files, in their order. @throws {GitDamage} where the repository does not have it */
	read(entries: readonly PathChange[]): Promise<LayerFile[]> {
		return Promise.all(
			entries.map(async ({ path, mode, id }) => {
				const kind = kindOfMode(mode ?? "");
				const bytes = kind === "file" ? await readBlob(this.#catFile, id ?? "") : new Uint8Array(0);
				return { path, kind, bytes };
			}),
		);
	}

	close(): Promise<void> {
		return this.#catFile.close();
	}
}

function fileIn(tree: ReadonlyMap<string, TreeEntry> | null, folder: string, name: string): PathChange[] {
	const entry = tree?.get(name);
	return entry && entry.mode !== folderMode ? [{ path: `${folder}/${name}`, ...entry }] : [];
}
