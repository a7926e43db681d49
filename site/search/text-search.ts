import type { Entry } from "../../registry/entries.ts";
import { workerAddress } from "../page/page.ts";
import type { Matched } from "./matcher.ts";

/** What the worker is sent: layers, in the order in which the page has them, or a text to find. */
export type ToMatcher = { add: readonly Entry[] } | { serial: number; text: string };

/** What it answers to a text. */
type FromMatcher = Matched & { serial: number };

/** Finds layers by text in a worker, which starts with the first text. */
export class TextSearch {
	readonly #added: (readonly Entry[])[] = [];
	#worker: Worker | null = null;
	#serial = 0;
	/** Settles the last text, until it is answered. */
	#pending: { resolve: (matched: Matched | null) => void; reject: () => void } | null = null;

	add(entries: readonly Entry[]): void {
		this.#added.push(entries);
		this.#send({ add: entries });
	}

	/**
	 * What a text finds among all layers that were added; null where another text was asked for meanwhile.
	 * Rejects where the worker cannot be loaded.
	 */
	match(text: string): Promise<Matched | null> {
		this.#pending?.resolve(null);
		this.#serial += 1;
		if (!this.#worker) this.#start();
		this.#send({ serial: this.#serial, text });
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
		this.#worker = new Worker(workerAddress, { type: "module" });
		this.#worker.addEventListener("message", ({ data }: MessageEvent<FromMatcher>) => {
			if (data.serial === this.#serial) this.#pending?.resolve(data);
		});
		this.#worker.addEventListener("error", () => {
			this.#worker = null;
			this.#pending?.reject();
		});
		for (const add of this.#added) this.#send({ add });
	}
}
