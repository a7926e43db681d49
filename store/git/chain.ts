import type { ObjectFormat } from "../../git/object.ts";
import { Pack } from "../../git/pack.ts";
import type { TreeEntry } from "../../git/tree.ts";
import { fileMode, folderMode, Tree } from "../../git/tree-object.ts";
import type { Trees } from "../../git/trees.ts";
import type { WrittenBlobs } from "../../git/written-blobs.ts";
import type { Edit } from "../store.ts";
import { commitBody, type NewCommit } from "./new-commit.ts";

/** What becomes of the names in a folder: a text, nothing, or of the names below. */
interface Changes extends Map<string, Changes | string | null> {}

/** A tree and its id, in hex. */
interface Known {
	id: string;
	tree: Tree;
}

/** Objects that are to be stored, and the last commit among them. */
export interface Link {
	pack: Pack;
	/** The commit that the first of them is built on; null: it is the first of a branch. */
	base: string | null;
	/** Id of the last commit. */
	tip: string;
	/** Takes note that the objects can be read from the repository. */
	stored: () => void;
}

/**
 * Commits one on top of the other, made in memory: what is read is the folders that change. Those made until `take` are
 * stored together.
 */
export class Chain {
	readonly #trees: Trees;
	readonly #written: WrittenBlobs;
	readonly #format: ObjectFormat;
	/** The commit that the next one is built on, and its files; null: the first commit of a branch. */
	#tip: string | null;
	#root: Known | null = null;
	/** The last commit that was taken. */
	#taken: string | null;
	#pack: Pack;
	/** The folders that were made and cannot be read from the repository yet, by the pack that they are in. */
	readonly #made = new Map<Pack, Map<string, Tree>>();
	#work: Promise<unknown> = Promise.resolve();

	constructor(
		{ trees, written }: { trees: Trees; written: WrittenBlobs },
		format: ObjectFormat,
		tip: string | null,
	) {
		this.#trees = trees;
		this.#written = written;
		this.#format = format;
		this.#tip = tip;
		this.#taken = tip;
		this.#pack = new Pack(format);
	}

	/**
	 * Makes one commit on top of the last.
	 * @returns its id
	 * @throws {GitDamage} where a folder that it changes is missing; every later commit then fails, too
	 */
	commit(commit: NewCommit): Promise<string> {
		const pack = this.#pack;
		const made = this.#work.then(() => this.#commit(commit, pack));
		this.#work = made;
		// Whoever made it, or takes it, is told.
		made.catch(() => undefined);
		return made;
	}

	/** What was made since the last call; null where nothing was. The next commits are stored after it. */
	async take(): Promise<Link | null> {
		const pack = this.#pack;
		const work = this.#work;
		this.#pack = new Pack(this.#format);
		const tip = String(await work);
		if (pack.size === 0) return null;
		const base = this.#taken;
		this.#taken = tip;
		return { pack, base, tip, stored: () => this.#made.delete(pack) };
	}

	async #commit(commit: NewCommit, pack: Pack): Promise<string> {
		this.#root ??= this.#tip === null ? null : await this.#trees.ofCommit(this.#tip);
		const root = (await this.#change(this.#root, nested(commit.edits), "", pack)) ?? this.#empty(pack);
		const id = pack.add("commit", commitBody(root.id, this.#tip, commit));
		this.#tip = id;
		this.#root = root;
		return id;
	}

	/** A folder after changes; null where nothing is left in it. */
	async #change(before: Known | null, changes: Changes, path: string, pack: Pack): Promise<Known | null> {
		const entries = new Map<string, TreeEntry | null>();
		for (const [name, change] of changes) {
			const there = before?.tree.get(name) ?? null;
			if (typeof change === "string") {
				const id = pack.add("blob", Buffer.from(change));
				this.#written.note(id);
				entries.set(name, { mode: fileMode, id });
			} else if (change !== null) {
				const known = there?.mode === folderMode ? await this.#read(there.id, path + name) : null;
				const after = await this.#change(known, change, `${path}${name}/`, pack);
				if (after || there) entries.set(name, after && { mode: folderMode, id: after.id });
			} else if (there) entries.set(name, null);
		}
		if (entries.size === 0) return before;
		const tree = (before?.tree ?? this.#noTree()).with(entries);
		if (tree.size === 0) return null;
		const id = pack.add("tree", tree.body, before && { id: before.id, body: before.tree.body });
		this.#trees.keep(id, tree, before?.id);
		this.#note(id, tree, pack);
		return { id, tree };
	}

	#note(id: string, tree: Tree, pack: Pack): void {
		const made = this.#made.get(pack) ?? new Map<string, Tree>();
		this.#made.set(pack, made.set(id, tree));
	}

	async #read(id: string, path: string): Promise<Known> {
		for (const made of this.#made.values()) {
			const tree = made.get(id);
			if (tree) return { id, tree };
		}
		return { id, tree: await this.#trees.read(id, path) };
	}

	#noTree(): Tree {
		return new Tree(this.#format, Buffer.alloc(0));
	}

	#empty(pack: Pack): Known {
		return { id: pack.add("tree", Buffer.alloc(0)), tree: this.#noTree() };
	}
}

/** Edits by folder. */
function nested(edits: readonly Edit[]): Changes {
	const root: Changes = new Map();
	for (const { path, text } of edits) {
		const names = path.split("/");
		const last = names.pop() ?? "";
		let folder = root;
		for (const name of names) {
			const below = folder.get(name);
			const next: Changes = below instanceof Map ? below : new Map();
			folder.set(name, next);
			folder = next;
		}
		folder.set(last, text);
	}
	return root;
}
