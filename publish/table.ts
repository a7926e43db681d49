import type { Fragments } from "../api/read.ts";
import { type Entry, fragmentOf, isSame } from "./entry.ts";
import { eachInSlices } from "./slices.ts";
import type { Slot } from "./slots.ts";

/** The changes of one commit: smallkey → its new entry, or null if the layer is removed. */
export type Changes = ReadonlyMap<string, Entry | null>;

/** The table of what is served: smallkey → fragments, all of one commit. */
export class Table {
	/** `v0.9/en` → its position among the slots. */
	readonly #positions: ReadonlyMap<string, number>;
	readonly #entries = new Map<string, Entry>();
	readonly entries: ReadonlyMap<string, Entry> = this.#entries;
	#version = 0;

	constructor(slots: readonly Slot[]) {
		this.#positions = new Map(slots.map(({ target, lang }, position) => [`${target}/${lang}`, position]));
	}

	readonly find: Fragments = (target, lang, smallkey) => {
		const entry = this.#entries.get(smallkey);
		const slot = this.#positions.get(`${target}/${lang}`);
		return entry && slot !== undefined ? fragmentOf(entry, slot) : null;
	};

	readonly version = (): number => this.#version;

	get size(): number {
		return this.#entries.size;
	}

	smallkeys(): IterableIterator<string> {
		return this.#entries.keys();
	}

	/**
	 * Applies the changes of a commit. Readers get all of them or none. Calls must not overlap.
	 * @returns the smallkeys whose fragments changed
	 */
	async change(changes: Changes): Promise<string[]> {
		const changed: string[] = [];
		await eachInSlices(changes, ([smallkey, entry]) => {
			if (!isSame(this.#entries.get(smallkey), entry)) changed.push(smallkey);
		});
		// Without an `await`, so that readers get all or none: 100,000 layers take 20 ms.
		for (const smallkey of changed) {
			const entry = changes.get(smallkey);
			if (entry) this.#entries.set(smallkey, entry);
			else this.#entries.delete(smallkey);
		}
		if (changed.length > 0) this.#version += 1;
		return changed;
	}
}
