import type { Entry } from "../../registry/entries.ts";
import type { Matched } from "./matcher.ts";

/** What the worker is sent: layers, in the order in which the page has them, or a text to find. */
export type ToMatcher = { add: readonly Entry[] } | { serial: number; text: string };

/** What it answers to a text. */
type FromMatcher = Matched & { serial: number };

/** Layers that are sent in one task: to copy 20,000 of them at once would hold the page for 50 ms. */
const sentAtOnce = 2_000;

/** Finds layers by text in a worker, which starts with the first text. */
export class TextSearch {
	readonly #address: URL;
	readonly #added: (readonly Entry[])[] = [];
	/** How many of them the worker has been sent. */
	#sent = 0;
	#worker: Worker | null = null;
	#serial = 0;
	/** Settles the last text, until it is answered. */
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
	 * What a text finds among all layers that were added; null where another text was asked for meanwhile.
	 * Rejects where the worker cannot be loaded.
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
			if (copied < sentAtOnce) continue;
			copied = 0;
			await new Promise((resolve) => setTimeout(resolve));
		}
	}
}
