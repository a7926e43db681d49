import type { Fragments } from "../api/read.ts";
import { type Entry, fragmentOf, isSame } from "./entry.ts";
import { eachInSlices } from "./slices.ts";
import type { Slot } from "./slots.ts";

/** The changes of one commit: smallkey → its new entry, or null if the layer is removed. */
export type Changes = ReadonlyMap<string, Entry | null>;

/** Most changes that are applied without a pause. */
const maxAtOnce = 1_000;

/** The table of what is served: smallkey → fragments, all of one commit. */
export class Table {
	/** `v0.9/en` → its position among the slots. */
	readonly #positions: ReadonlyMap<string, number>;
	#entries = new Map<string, Entry>();
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

	get entries(): ReadonlyMap<string, Entry> {
		return this.#entries;
	}

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
		const apply = (entries: Map<string, Entry>) => (smallkey: string) => {
			const entry = changes.get(smallkey);
			if (entry) entries.set(smallkey, entry);
			else entries.delete(smallkey);
		};
		if (changed.length <= maxAtOnce) changed.forEach(apply(this.#entries));
		else {
			// A copy, which readers get once it is complete: row `push-delay` of `npx fragments bench`.
			const entries = new Map(this.#entries);
			await eachInSlices(changed, apply(entries));
			this.#entries = entries;
		}
		if (changed.length > 0) this.#version += 1;
		return changed;
	}
}
