import { Worker } from "node:worker_threads";
import type { Order, Report, WrittenLayer } from "./folder-thread.mjs";
import { otherFolders, type Slot, slotFolder } from "./slots.ts";

/** A layer with its fragments in the order of the slots; null where it has none. */
export type LayerBodies = readonly [smallkey: string, bodies: readonly (Uint8Array | null)[]];

interface Waiting {
	resolve: (report: Report) => void;
	reject: (error: Error) => void;
}

/** The thread that writes rendered files. It starts with the first order. */
export class FolderThread {
	readonly #folders: { out: string; folders: string[]; others: string[] };
	#worker: Worker | null = null;
	readonly #waiting: Waiting[] = [];

	constructor(out: string, slots: readonly Slot[]) {
		this.#folders = { out, folders: slots.map(slotFolder), others: otherFolders(slots) };
	}

	/** Writes the files of layers. @throws {Error} where the thread cannot be started, or ends */
	write(layers: readonly LayerBodies[]): Promise<Report> {
		const bodies = layers.flatMap(([, bodies]) => bodies.flatMap((body) => body ?? []));
		// Their own memory, which is handed over: a fragment is a part of a long run of bytes.
		const bytes = new Uint8Array(bodies.reduce((total, body) => total + body.length, 0));
		let offset = 0;
		for (const body of bodies) {
			bytes.set(body, offset);
			offset += body.length;
		}
		const written = layers.map(
			([smallkey, bodies]): WrittenLayer => [smallkey, bodies.map((body) => body?.length ?? null)],
		);
		return this.ask({ kind: "write", layers: written, bytes }, [bytes.buffer]);
	}

	/** Carries out an order after those before it. @throws {Error} where the thread cannot be started, or ends */
	ask(order: Order, transfer: ArrayBuffer[] = []): Promise<Report> {
		return new Promise((resolve, reject) => {
			const worker = this.#start();
			worker.ref();
			this.#waiting.push({ resolve, reject });
			worker.postMessage(order, transfer);
		});
	}

	/** Ends the thread, after what it does now. */
	async close(): Promise<void> {
		await this.#worker?.terminate();
	}

	#start(): Worker {
		if (this.#worker) return this.#worker;
		const worker = new Worker(new URL("./folder-thread.mjs", import.meta.url), {
			workerData: this.#folders,
			execArgv: [],
			env: {},
		});
		worker.on("message", (report: Report) => {
			this.#waiting.shift()?.resolve(report);
			// Alone it does not keep the process alive.
			if (this.#waiting.length === 0) worker.unref();
		});
		worker.on("error", (error) => this.#fail(worker, error));
		worker.on("exit", () => this.#fail(worker, new Error("the thread that writes files has ended")));
		this.#worker = worker;
		return worker;
	}

	#fail(worker: Worker, error: Error): void {
		if (this.#worker !== worker) return;
		this.#worker = null;
		for (const { reject } of this.#waiting.splice(0)) reject(error);
	}
}
