import type { Remark } from "../../registry/judge-names.ts";

/** Problems that are kept to be shown; the others are counted. */
const maxKept = 50;

/** What was found in a push: a bounded number of problems, however much is wrong. */
export class Findings {
	readonly #kept: Remark[] = [];
	readonly #files = new Set<string>();
	#count = 0;

	add(...problems: Remark[]): void {
		for (const problem of problems) {
			this.#count += 1;
			this.#files.add(problem.file);
			if (this.#kept.length < maxKept) this.#kept.push(problem);
		}
	}

	/** How many there are, and in how many files. */
	get count(): number {
		return this.#count;
	}

	get files(): number {
		return this.#files.size;
	}

	/** The first of them, sorted by file. */
	list(): Remark[] {
		return [...this.#kept].sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
	}
}
