import { partition } from "./partition.ts";
import {
	bytesOf,
	type Files,
	piecePath,
	readShape,
	type SetKind,
	shapePath,
	sortedThings,
	writeShape,
} from "./set.ts";
import type { Shape } from "./shape.ts";

/** A file as it is now; null where there is none. */
export type ReadFile = (path: string) => string | null;

/** A file of the index is not what the others say: everything has to be built. */
export class IndexBroken extends Error {}

/** A piece under work. */
interface Loaded<T> {
	/** By text, not sorted. */
	things: Map<string, T>;
	/** Its file's text; null where it has no file yet. */
	before: string | null;
	/** Its things before any change, in order. */
	thingsBefore: readonly T[];
}

/** What is known of a piece that has no file yet. */
const newPiece = { before: null, thingsBefore: [] } as const;

/**
 * Changes of a set, of which only the pieces concerned are read and written. The files come out as if everything had
 * been built anew.
 */
export class SetUpdate<T> {
	readonly #kind: SetKind<T>;
	readonly #read: ReadFile;
	/** Read when it is first needed. */
	#opened: { shape: Shape; text: string } | null = null;
	readonly #loaded = new Map<string, Loaded<T>>();
	/** Text → thing, or null for one that goes. */
	readonly #changes = new Map<string, T | null>();
	/** Piece → by how many bytes its things have become more, or less. */
	readonly #grown = new Map<string, number>();

	constructor(kind: SetKind<T>, read: ReadFile) {
		this.#kind = kind;
		this.#read = read;
	}

	/** @throws {IndexBroken} where the set's tree is not there */
	get #shape(): Shape {
		if (this.#opened) return this.#opened.shape;
		const text = this.#read(shapePath(this.#kind)) ?? "";
		const shape = readShape(this.#kind, text);
		if (!shape) throw new IndexBroken(`${shapePath(this.#kind)}: is not there or of another version`);
		this.#opened = { shape, text };
		return shape;
	}

	/**
	 * The things, as they are before any change, whose texts start with `prefix`.
	 * @throws {IndexBroken} where a piece is not what the tree says
	 */
	find(prefix: string): T[] {
		const found: T[] = [];
		for (const path of this.#shape.under(prefix)) {
			for (const [text, thing] of this.#load(path).things) if (text.startsWith(prefix)) found.push(thing);
		}
		return found;
	}

	/** The thing of a text, as it is before any change. @throws {IndexBroken} where a piece is not what the tree says */
	get(text: string): T | undefined {
		const path = this.#shape.find(text);
		return path === null ? undefined : this.#load(path).things.get(text);
	}

	put(thing: T): void {
		this.#changes.set(this.#kind.textOf(thing), thing);
	}

	remove(text: string): void {
		this.#changes.set(text, null);
	}

	/** The files that differ now. @throws {IndexBroken} where a piece is not what the tree says */
	files(): Files {
		if (this.#changes.size === 0) return new Map();
		const touched = new Set<string>();
		for (const [text, thing] of this.#changes) touched.add(this.#change(text, thing));
		touched.delete("none");
		for (const path of touched) this.#settle(path);
		return this.#written();
	}

	/** Takes one change into its piece; the piece's path. */
	#change(text: string, thing: T | null): string {
		const path = this.#shape.find(text);
		if (path === null) {
			if (thing === null) return "none";
			const vacant = this.#shape.vacant(text);
			this.#shape.add(vacant);
			this.#place(vacant, new Map([[text, thing]]));
			return vacant;
		}
		const { things } = this.#load(path);
		const bytes = this.#bytesOf(thing) - this.#bytesOf(things.get(text));
		this.#grown.set(path, (this.#grown.get(path) ?? 0) + bytes);
		if (thing === null) things.delete(text);
		else things.set(text, thing);
		return path;
	}

	#bytesOf(thing: T | null | undefined): number {
		return thing === null || thing === undefined ? 0 : this.#kind.bytesOf(thing);
	}

	#load(path: string): Loaded<T> {
		const known = this.#loaded.get(path);
		if (known) return known;
		const file = piecePath(this.#kind, path);
		const before = this.#read(file);
		const things = before === null ? null : this.#kind.read(before);
		if (!things) throw new IndexBroken(`${file}: is not there or not whole`);
		const byText = new Map(things.map((thing) => [this.#kind.textOf(thing), thing]));
		const loaded = { things: byText, before, thingsBefore: things };
		this.#loaded.set(path, loaded);
		return loaded;
	}

	/** Brings a piece into the form that it has in a whole build: gone, joined with its neighbour, or split. */
	#settle(start: string): void {
		if (!this.#shape.has(start)) return;
		const { things, thingsBefore } = this.#load(start);
		if (things.size === 0) return this.#drop(start);
		// What has not become less does not fit beside its neighbour now if it did not before.
		const isLess = things.size < thingsBefore.length || (this.#grown.get(start) ?? 0) < 0;
		if (isLess) this.#rise(start);
		else if (!this.#fits(things)) this.#split(start, things);
	}

	/** Moves a piece up, together with its neighbours, as far as everything fits into one. */
	#rise(start: string): void {
		const { things } = this.#load(start);
		if (!this.#fits(things)) return this.#split(start, things);
		let path: string | null = start;
		while (path !== null && path !== "") path = this.#join(path, things);
	}

	/** Removes an empty piece; the one that was beside it may now stand further up. */
	#drop(path: string): void {
		this.#shape.delete(path);
		this.#place(path, new Map());
		for (let parent = path; parent !== ""; ) {
			parent = parent.slice(0, -1);
			const left = this.#shape.below(parent);
			if (left.length > 1) return;
			if (left.length === 0) continue;
			const beside = left[0] as string;
			return this.#load(beside).things.size === 0 ? this.#drop(beside) : this.#rise(beside);
		}
	}

	/** Moves a piece one bit up, with its neighbour's things where it has one; null where that would not be right. */
	#join(path: string, things: Map<string, T>): string | null {
		const parent = path.slice(0, -1);
		const sibling = parent + (path.endsWith("0") ? "1" : "0");
		const beside = this.#shape.below(sibling);
		if (beside.length > 1 || (beside.length === 1 && beside[0] !== sibling)) return null;
		const others = beside.length === 1 ? this.#load(sibling).things : new Map<string, T>();
		if (!this.#fits(things, others)) return null;
		for (const [text, thing] of others) things.set(text, thing);
		for (const old of [path, ...beside]) this.#shape.delete(old);
		this.#shape.add(parent);
		this.#place(path, new Map());
		this.#place(parent, things);
		return parent;
	}

	/** Puts things at a path, whatever file there was. */
	#place(path: string, things: Map<string, T>): void {
		const { before, thingsBefore } = this.#loaded.get(path) ?? newPiece;
		this.#loaded.set(path, { things, before, thingsBefore });
	}

	#split(path: string, things: Map<string, T>): void {
		const sorted = this.#sorted(things);
		const pieces = partition(sortedThings(this.#kind, sorted), path);
		this.#shape.delete(path);
		this.#place(path, new Map());
		for (const piece of pieces) {
			const run = sorted.slice(piece.from, piece.to);
			this.#place(piece.path, new Map(run.map((thing) => [this.#kind.textOf(thing), thing])));
			this.#shape.add(piece.path);
		}
	}

	#sorted(things: Map<string, T>): T[] {
		return [...things].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, thing]) => thing);
	}

	#fits(...all: Map<string, T>[]): boolean {
		const { maxThings, maxBytes } = this.#kind;
		const size = all.reduce((sum, things) => sum + things.size, 0);
		if (size <= 1) return true;
		return (
			size <= maxThings &&
			all.reduce((sum, things) => sum + bytesOf(this.#kind, things.values()), 0) <= maxBytes
		);
	}

	#written(): Files {
		const before = new Map<string, string>();
		const after = new Map<string, string>();
		for (const [path, loaded] of this.#loaded) {
			// A piece and the lower half that it is split into have one file.
			const file = piecePath(this.#kind, path);
			if (loaded.before !== null) before.set(file, loaded.before);
			if (this.#shape.has(path)) after.set(file, this.#kind.write(this.#sorted(loaded.things), path));
		}
		const files: Files = new Map();
		for (const file of before.keys()) if (!after.has(file)) files.set(file, null);
		for (const [file, text] of after) if (before.get(file) !== text) files.set(file, text);
		if (this.#shape.hasChanged) files.set(shapePath(this.#kind), writeShape(this.#kind, this.#shape));
		return files;
	}
}
