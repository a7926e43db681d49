import type { Entry } from "../../registry/entries.ts";
import type { Matched } from "./matcher.ts";

/** A message to the worker: layers to add, in the page's order, or a text to find. */
export type ToMatcher = { add: readonly Entry[] } | { serial: number; text: string };

/** The worker's answer to a text. */
type FromMatcher = Matched & { serial: number };

/** Most layers sent to the worker in one task: copying 20,000 at once would block the page for 50 ms. */
const maxSentAtOnce = 2_000;

/** Finds layers by text in a worker, which is started by the first search. */
export class TextSearch {
	readonly #address: URL;
	readonly #added: (readonly Entry[])[] = [];
	/** Number of items of `#added` that were sent to the worker. */
	#sent = 0;
	#worker: Worker | null = null;
	#serial = 0;
	/** Settles the promise of the newest search. */
	#pending: { resolve: (matched: Matched | null) => void; reject: () => void } | null = null;

	/** @param address of the worker's script */
	constructor(address: URL) {
		this.#address = address;
	}

	add(entries: readonly Entry[]): void {
		this.#added.push(entries);
		void this.#sendAdded();
	}

	/**
	 * Finds a text in all added layers; null if a newer search has replaced this one.
	 * Rejects if the worker cannot be loaded.
	 */
	match(text: string): Promise<Matched | null> {
		this.#pending?.resolve(null);
		this.#serial += 1;
		const serial = this.#serial;
		if (!this.#worker) this.#start();
		void this.#sendAdded().then(() => serial === this.#serial && this.#send({ serial, text }));
		return new Promise((resolve, reject) => {
			this.#pending = { resolve, reject };
		});
	}

	close(): void {
		this.#worker?.terminate();
		this.#worker = null;
		this.#pending?.resolve(null);
	}

	#send(message: ToMatcher): void {
		this.#worker?.postMessage(message);
	}

	#start(): void {
		this.#worker = new Worker(this.#address, { type: "module" });
		this.#worker.addEventListener("message", ({ data }: MessageEvent<FromMatcher>) => {
			if (data.serial === this.#serial) this.#pending?.resolve(data);
		});
		this.#worker.addEventListener("error", () => {
			this.#worker = null;
			this.#pending?.reject();
		});
		this.#sent = 0;
	}

	async #sendAdded(): Promise<void> {
		for (let copied = 0; this.#worker && this.#sent < this.#added.length; ) {
			const add = this.#added[this.#sent] ?? [];
			this.#sent += 1;
			this.#send({ add });
			copied += add.length;
			if (copied < maxSentAtOnce) continue;
			copied = 0;
			await new Promise((resolve) => setTimeout(resolve));
		}
	}
}
