/** Counts the changes to what viewers get, by kind. */
export class Notes {
	readonly #counts = new Map<string, number>();

	add(kind: string): void {
		this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
	}

	/** Kinds with their counts, most frequent first. */
	list(): [kind: string, count: number][] {
		return [...this.#counts].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
	}
}
