import type { Fragments } from "../api/read.ts";
import { type Entry, fragmentOf, isSame } from "./entry.ts";
import { Slices } from "./slices.ts";
import type { Slot } from "./slots.ts";

/** Smallkey → its new entry, or null where it is removed, of one commit. */
export type Changes = ReadonlyMap<string, Entry | null>;

/** Most changes that are made without a pause. */
const maxAtOnce = 1_000;

/** The table of what is served: smallkey → fragments, all of one commit. */
export class Table {
	/** Target → language → position among the slots. */
	readonly #positions = new Map<string, Map<string, number>>();
	#entries = new Map<string, Entry>();
	#version = 0;

	constructor(slots: readonly Slot[]) {
		slots.forEach(({ target, lang }, position) => {
			const langs = this.#positions.get(target) ?? new Map<string, number>();
			this.#positions.set(target, langs.set(lang, position));
		});
	}

	readonly find: Fragments = (target, lang, smallkey) => {
		const entry = this.#entries.get(smallkey);
		const slot = this.#positions.get(target)?.get(lang);
		return entry && slot !== undefined ? fragmentOf(entry, slot) : null;
	};

	readonly version = (): number => this.#version;

	get size(): number {
		return this.#entries.size;
	}

	has(smallkey: string): boolean {
		return this.#entries.has(smallkey);
	}

	entry(smallkey: string): Entry | null {
		return this.#entries.get(smallkey) ?? null;
	}

	smallkeys(): IterableIterator<string> {
		return this.#entries.keys();
	}

	entries(): IterableIterator<[string, Entry]> {
		return this.#entries.entries();
	}

	/**
	 * Makes the changes of a commit: readers get all of them or none. Call it for one commit after the other.
	 * @returns the smallkeys whose fragments changed
	 */
	async change(changes: Changes): Promise<string[]> {
		const slices = new Slices();
		const changed: string[] = [];
		for (const [smallkey, entry] of changes) {
			if (!isSame(this.#entries.get(smallkey), entry)) changed.push(smallkey);
			await slices.pause();
		}
		if (changed.length === 0) return changed;
		const few = changed.length <= maxAtOnce;
		const entries = few ? this.#entries : await this.#copy(slices);
		for (const smallkey of changed) {
			const entry = changes.get(smallkey);
			if (entry) entries.set(smallkey, entry);
			else entries.delete(smallkey);
			// The copy has no readers yet.
			if (!few) await slices.pause();
		}
		this.#entries = entries;
		this.#version += 1;
		return changed;
	}

	async #copy(slices: Slices): Promise<Map<string, Entry>> {
		const copy = new Map<string, Entry>();
		for (const [smallkey, entry] of this.#entries) {
			copy.set(smallkey, entry);
			await slices.pause();
		}
		return copy;
	}
}
