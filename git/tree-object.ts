import { idBytesOf, type ObjectFormat } from "./object.ts";
import type { TreeEntry } from "./tree.ts";

/** The mode of a folder in a tree, and of a plain file. */
export const folderMode = "40000";
export const fileMode = "100644";

/** Where the entry of a name begins, and where its id does. */
interface Place {
	start: number;
	id: number;
}

/** An entry as it stands in a tree, and what it is sorted by. */
interface Line {
	key: Buffer;
	bytes: Buffer;
}

/**
 * A tree object: entries `<mode> <name>\0<id>`, in the order of the names' bytes, where a folder counts as if a slash
 * ended its name. What is asked for is turned into text, and nothing else: one of a thousand names is replaced in it.
 */
export class Tree {
	readonly body: Buffer;
	readonly #format: ObjectFormat;
	readonly #places: ReadonlyMap<string, Place>;

	constructor(
		format: ObjectFormat,
		body: Buffer,
		places: ReadonlyMap<string, Place> = placesIn(body, idBytesOf(format)),
	) {
		this.#format = format;
		this.body = body;
		this.#places = places;
	}

	/** Number of its names. */
	get size(): number {
		return this.#places.size;
	}

	/** Its names, in its order. */
	names(): Iterable<string> {
		return this.#places.keys();
	}

	/** The entry of a name, or null. */
	get(name: string): TreeEntry | null {
		const place = this.#places.get(name);
		if (!place) return null;
		const mode = this.body.toString("latin1", place.start, this.body.indexOf(0x20, place.start));
		return { mode, id: this.body.toString("hex", place.id, place.id + idBytesOf(this.#format)) };
	}

	/** This tree with other entries for some names; null takes one out. */
	with(changes: ReadonlyMap<string, TreeEntry | null>): Tree {
		const replaced = this.#replace(changes);
		if (replaced) return new Tree(this.#format, replaced, this.#places);
		const added: Line[] = [];
		for (const [name, entry] of changes) if (entry) added.push(lineOf(name, entry));
		added.sort((a, b) => a.key.compare(b.key));
		return new Tree(this.#format, Buffer.concat(this.#merge(changes, added)));
	}

	/** A copy with other ids for names that stay what they are; null where more than ids change. */
	#replace(changes: ReadonlyMap<string, TreeEntry | null>): Buffer | null {
		for (const [name, entry] of changes) if (!entry || this.get(name)?.mode !== entry.mode) return null;
		const body = Buffer.from(this.body);
		for (const [name, entry] of changes) body.write(entry!.id, this.#places.get(name)!.id, "hex");
		return body;
	}

	/** The entries that stay, and those that come, in order. */
	#merge(changes: ReadonlyMap<string, TreeEntry | null>, added: readonly Line[]): Buffer[] {
		const pieces: Buffer[] = [];
		let next = 0;
		for (const [name, { start, id }] of this.#places) {
			const nameStart = this.body.indexOf(0x20, start) + 1;
			const isFolder = nameStart - 1 - start === folderMode.length;
			const key = keyOf(this.body.subarray(nameStart, id - 1), isFolder);
			for (; next < added.length && added[next]!.key.compare(key) < 0; next += 1)
				pieces.push(added[next]!.bytes);
			if (!changes.has(name)) pieces.push(this.body.subarray(start, id + idBytesOf(this.#format)));
		}
		return [...pieces, ...added.slice(next).map(({ bytes }) => bytes)];
	}
}

/** Where the entries of a tree are, by name. */
function placesIn(body: Buffer, idBytes: number): Map<string, Place> {
	const places = new Map<string, Place>();
	for (let start = 0; start < body.length; ) {
		const space = body.indexOf(0x20, start);
		const end = body.indexOf(0, space);
		places.set(body.toString("utf8", space + 1, end), { start, id: end + 1 });
		start = end + 1 + idBytes;
	}
	return places;
}

/** What a name is sorted by (base_name_compare of git's read-cache.c). */
function keyOf(name: Buffer, isFolder: boolean): Buffer {
	return isFolder ? Buffer.concat([name, Buffer.from("/")]) : name;
}

function lineOf(name: string, { mode, id }: TreeEntry): Line {
	const bytes = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
	return { key: keyOf(Buffer.from(name), mode === folderMode), bytes };
}
