import type { Entry } from "../data/entries.ts";
import type { Matches } from "./word-index.ts";

export type ToMatcher = { add: readonly Entry[] } | { serial: number; text: string };

/** Copying 20,000 layers at once would block the page for 50 ms. */
const maxSentAtOnce = 2_000;

export class TextSearch {
	readonly #added: (readonly Entry[])[] = [];
	/** Number of items of `#added` that the worker has. */
	#sent = 0;
	#worker: Worker | null = null;
	#serial = 0;

	constructor(readonly address: URL) {}

	add(entries: readonly Entry[]): void {
		this.#added.push(entries);
		void this.#sendAdded();
	}

	/** Rejects if the worker cannot be loaded. Never settles if a newer search replaces this one. */
	match(text: string): Promise<Matches> {
		const worker = this.#start();
		this.#serial += 1;
		const serial = this.#serial;
		return new Promise((resolve, reject) => {
			worker.onmessage = ({ data }) => data.serial === serial && resolve(data);
			worker.onerror = () => {
				this.#worker = null;
				this.#sent = 0;
				reject();
			};
			void this.#sendAdded().then(() => serial === this.#serial && worker.postMessage({ serial, text }));
		});
	}

	prepare(): void {
		this.#start();
		void this.#sendAdded();
	}

	#start(): Worker {
		this.#worker ??= new Worker(this.address, { type: "module" });
		return this.#worker;
	}

	close(): void {
		this.#worker?.terminate();
		this.#worker = null;
	}

	async #sendAdded(): Promise<void> {
		for (let copied = 0; this.#worker && this.#sent < this.#added.length; ) {
			const add = this.#added[this.#sent] ?? [];
			this.#sent += 1;
			this.#worker.postMessage({ add } satisfies ToMatcher);
			copied += add.length;
			if (copied < maxSentAtOnce) continue;
			copied = 0;
			await new Promise((resolve) => setTimeout(resolve));
		}
	}
}
