import { type IndexProblem, IndexUnusable } from "./pieces.ts";

/** Reads of the index that go on without what is not there, and remember it. */
export class Attempts {
	readonly #problems = new Map<string, IndexProblem>();

	/** Parts of the index that were not there, each once. */
	get problems(): IndexProblem[] {
		return [...this.#problems.values()];
	}

	/** What was read, or null where that part of the index cannot be used. */
	async try<T>(read: () => Promise<T>): Promise<T | null> {
		try {
			return await read();
		} catch (error) {
			if (!(error instanceof IndexUnusable)) throw error;
			this.#problems.set(JSON.stringify(error.problem), error.problem);
			return null;
		}
	}
}
