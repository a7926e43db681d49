/** What a piece of each set weighs compressed, in kB. */
const pieceWeights = { names: 3.4, terms: 4.7, keys: 8 } as const;

/** What a search may weigh for each hit that is asked for, in all and before it looks at frequent words, in kB. */
const weightForHit = 3.9;
const weightForChecks = 2.4;

/** What a search has read, roughly: it ends before it weighs too much. */
export class Weight {
	readonly #seen = new Set<string>();
	#kilobytes = 0;

	/** Counts pieces that are about to be read, each once. */
	add(set: keyof typeof pieceWeights, paths: readonly (string | undefined)[]): void {
		this.#kilobytes += this.of(set, paths);
		for (const path of paths) this.#seen.add(`${set}${path}`);
	}

	/** What some pieces would add to it. */
	of(set: keyof typeof pieceWeights, paths: readonly (string | null | undefined)[]): number {
		const fresh = new Set(
			paths.filter((path) => typeof path === "string" && !this.#seen.has(`${set}${path}`)),
		);
		return fresh.size * pieceWeights[set];
	}

	/** How many more pieces of names it may read for so many hits. */
	namesLeft(hits: number): number {
		return Math.floor((hits * weightForHit - this.#kilobytes) / pieceWeights.names);
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
