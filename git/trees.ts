import type { CatFile } from "./cat-file.ts";
import { formatOf } from "./object.ts";
import { GitDamage } from "./run.ts";
import { Tree } from "./tree-object.ts";

/** Bytes that a name in a tree takes beside the tree itself, about. */
const bytesPerName = 100;

/** Most bytes of trees that are kept: those of all folders of a hundred thousand layers. */
const ordinaryBytes = 24 << 20;

/** The trees of a repository, the last ones that were used in memory: an id stands for the same tree for ever. */
export class Trees {
	readonly #catFile: CatFile;
	readonly #maxBytes: number;
	/** The one that was used last stands last. */
	readonly #kept = new Map<string, Tree>();
	#bytes = 0;

	constructor(catFile: CatFile, maxBytes = ordinaryBytes) {
		this.#catFile = catFile;
		this.#maxBytes = maxBytes;
	}

	/**
	 * A tree by its id.
	 * @param what what it holds, for people: `layers/23`
	 * @throws {GitDamage} where the repository does not have it
	 */
	async read(id: string, what: string): Promise<Tree> {
		const kept = this.#kept.get(id);
		if (kept) {
			this.#kept.delete(id);
			this.#kept.set(id, kept);
			return kept;
		}
		const object = await this.#catFile.read(id);
		if (object?.type !== "tree") throw new GitDamage(`tree ${id} of ${what} is missing`);
		const tree = new Tree(formatOf(id), object.body);
		this.keep(id, tree);
		return tree;
	}

	/** The tree of a commit's files. @throws {GitDamage} where the repository does not have it */
	async ofCommit(commit: string): Promise<{ id: string; tree: Tree }> {
		const object = await this.#catFile.read(commit);
		const id = /^tree ([0-9a-f]{40,64})\n/.exec(object?.body.toString("latin1") ?? "")?.[1];
		if (object?.type !== "commit" || id === undefined) throw new GitDamage(`commit ${commit} is missing`);
		return { id, tree: await this.read(id, "the layers") };
	}

	/**
	 * Keeps a tree that was made here.
	 * @param before id of the tree whose place it takes: hardly anybody asks for that again, and it can be read
	 */
	keep(id: string, tree: Tree, before: string | null = null): void {
		if (before !== null && before !== id) this.#drop(before);
		if (this.#kept.has(id)) return;
		this.#kept.set(id, tree);
		this.#bytes += sizeOf(tree);
		for (const oldest of this.#kept.keys()) {
			if (this.#bytes <= this.#maxBytes) return;
			this.#drop(oldest);
		}
	}

	#drop(id: string): void {
		const tree = this.#kept.get(id);
		if (!tree) return;
		this.#kept.delete(id);
		this.#bytes -= sizeOf(tree);
	}
}

function sizeOf(tree: Tree): number {
	return tree.body.length + tree.size * bytesPerName;
}
