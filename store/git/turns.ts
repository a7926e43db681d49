import { StoreBusy } from "../store.ts";

/** One task after the other has the repository to itself. */
export class Turns {
	readonly #waitMs: number;
	#last: Promise<unknown> = Promise.resolve();

	/** @param waitMs longest wait of a task until its turn, in milliseconds */
	constructor(waitMs: number) {
		this.#waitMs = waitMs;
	}

	/**
	 * Runs a task when nobody else is at work, in the order of the calls.
	 * @throws {StoreBusy} where its turn does not come in time; it is not run then
	 */
	run<T>(task: () => Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			let isLate = false;
			const timer = setTimeout(() => {
				isLate = true;
				reject(new StoreBusy("the changes before this one take too long", 5));
			}, this.#waitMs);
			this.#last = this.#last.then(async () => {
				clearTimeout(timer);
				if (isLate) return;
				await task().then(resolve, reject);
			});
		});
	}

	/** Ends when everything has ended that was to be run. */
	async idle(): Promise<void> {
		await this.#last;
	}
}
