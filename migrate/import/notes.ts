/** Counts of what is served otherwise than the older service served it, by kind. */
export class Notes {
	readonly #counts = new Map<string, number>();

	add(kind: string): void {
		this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
	}

	/** Kinds with how often each was met, most frequent first. */
	list(): [kind: string, count: number][] {
		return [...this.#counts].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
	}
}
