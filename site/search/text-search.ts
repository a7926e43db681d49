import type { Entry } from "../../registry/entries.ts";
import type { Matched, Matcher } from "./matcher.ts";
import type { FromMatcher, ToMatcher } from "./messages.ts";

/** A text that the worker was sent, until it answers. */
interface Pending {
	serial: number;
	text: string;
	resolve: (matched: Matched | null | Promise<Matched | null>) => void;
}

/** Finds layers by text in a worker; in the page itself where there can be none. */
export class TextSearch {
	readonly #address: URL;
	readonly #added: (readonly Entry[])[] = [];
	#worker: Worker | null = null;
	#local: Promise<Matcher> | null = null;
	#serial = 0;
	#pending: Pending | null = null;

	/** @param address of the worker's script */
	constructor(address: URL) {
		this.#address = address;
	}

	add(entries: readonly Entry[]): void {
		this.#added.push(entries);
		this.#send({ add: entries });
		if (this.#local) void this.#local.then((matcher) => matcher.add(entries));
	}

	/** What a text finds among all layers that were added; null where another text was asked for meanwhile. */
	async match(text: string): Promise<Matched | null> {
		this.#serial += 1;
		const serial = this.#serial;
		this.#pending?.resolve(null);
		this.#pending = null;
		this.#start();
		if (this.#local) {
			const matcher = await this.#local;
			return serial === this.#serial ? matcher.match(text) : null;
		}
		return new Promise((resolve) => {
			this.#pending = { serial, text, resolve };
			this.#send({ serial, text });
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
		if (this.#worker || this.#local) return;
		try {
			this.#worker = new Worker(this.#address, { type: "module" });
		} catch {
			return this.#startHere();
		}
		this.#worker.addEventListener("message", ({ data }: MessageEvent<FromMatcher>) => {
			if (data.serial !== this.#pending?.serial) return;
			this.#pending.resolve(data);
			this.#pending = null;
		});
		this.#worker.addEventListener("error", () => {
			const pending = this.#pending;
			this.#worker = null;
			this.#startHere();
			pending?.resolve(this.match(pending.text));
		});
		for (const add of this.#added) this.#send({ add });
	}

	#startHere(): void {
		const added = [...this.#added];
		this.#local = import("./matcher.ts").then(({ Matcher }) => {
			const matcher = new Matcher();
			for (const entries of added) matcher.add(entries);
			return matcher;
		});
	}
}
