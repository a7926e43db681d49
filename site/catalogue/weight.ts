/** What a piece of each set weighs compressed, in kB. */
const pieceWeights = { names: 2.5, terms: 5.5 } as const;

/** What a search may weigh for each hit that is asked for, in all and before it looks at frequent words, in kB. */
const weightForHit = 3.7;
const weightForChecks = 2;

/** What a search has read, roughly: it ends before it weighs too much. */
export class Weight {
	readonly #seen = new Set<string>();
	#kilobytes = 0;

	/** Counts pieces that are about to be read, each once. */
	add(set: keyof typeof pieceWeights, paths: readonly (string | undefined)[]): void {
		for (const path of paths) {
			if (this.#seen.has(`${set}${path}`)) continue;
			this.#seen.add(`${set}${path}`);
			this.#kilobytes += pieceWeights[set];
		}
	}

	/** Whether it is too much for so many hits. */
	isOverFor(hits: number): boolean {
		return this.#kilobytes > hits * weightForHit;
	}

	/** Whether it is too much for looking at further pieces of frequent words. */
	isOverForChecks(hits: number): boolean {
		return this.#kilobytes > hits * weightForChecks;
	}
}
