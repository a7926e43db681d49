/** Most ids that are kept. */
const ordinaryMost = 50_000;

/** The ids of the files that this process has written to a repository, the last ones of them. */
export class WrittenBlobs {
	readonly #most: number;
	/** The one that was written last stands last. */
	readonly #ids = new Set<string>();

	constructor(most = ordinaryMost) {
		this.#most = most;
	}

	/** Takes note of a file. @param id its id, in hex */
	note(id: string): void {
		this.#ids.delete(id);
		this.#ids.add(id);
		if (this.#ids.size <= this.#most) return;
		const [oldest = ""] = this.#ids;
		this.#ids.delete(oldest);
	}

	/** Whether a file was written here; false also where that is long ago. */
	has(id: string): boolean {
		return this.#ids.has(id);
	}
}
