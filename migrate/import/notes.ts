/** A kind of what is served otherwise than the older service served it. */
export interface Note {
	kind: string;
	count: number;
	/** The first layers of it. */
	smallkeys: string[];
}

/** Layers that are named of one kind. */
const maxNamed = 5;

/** Counts what is served otherwise than the older service served it, by kind. */
export class Notes {
	readonly #notes = new Map<string, Note>();

	add(kind: string, smallkey?: string): void {
		const note = this.#notes.get(kind) ?? { kind, count: 0, smallkeys: [] };
		note.count += 1;
		if (smallkey !== undefined && note.smallkeys.length < maxNamed) note.smallkeys.push(smallkey);
		this.#notes.set(kind, note);
	}

	/** Kinds with how often each was met, most frequent first. */
	list(): Note[] {
		return [...this.#notes.values()].sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
	}
}
