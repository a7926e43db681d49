import { Worker } from "node:worker_threads";
import type { Entry } from "./entry.ts";
import type { Order, Report, WrittenLayer } from "./folder-thread.mjs";
import { otherFolders, type Slot, slotFolder } from "./slots.ts";

interface Waiting {
	order: Order;
	resolve: (report: Report) => void;
}

/** The thread that writes rendered files. It starts with the first order. */
export class FolderThread {
	readonly #folders: { out: string; folders: string[]; others: string[] };
	#worker: Worker | null = null;
	readonly #waiting: Waiting[] = [];

	constructor(out: string, slots: readonly Slot[]) {
		this.#folders = { out, folders: slots.map(slotFolder), others: otherFolders(slots) };
	}

	/** Writes the files of layers, or removes them for null. Never rejects. */
	write(layers: readonly (readonly [smallkey: string, Entry | null])[]): Promise<Report> {
		const written = layers.map(([smallkey, entry]): WrittenLayer => [smallkey, entry?.ends ?? []]);
		const runs = layers.flatMap(([, entry]) => entry?.bytes ?? []);
		// Their own memory, which is handed over: a layer may be a part of a long run of bytes.
		const bytes = new Uint8Array(runs.reduce((total, run) => total + run.length, 0));
		let offset = 0;
		for (const run of runs) {
			bytes.set(run, offset);
			offset += run.length;
		}
		return this.ask({ kind: "write", layers: written, bytes }, [bytes.buffer]);
	}

	/** Carries out an order after those before it. Never rejects: the report says where the thread fails. */
	ask(order: Order, transfer: ArrayBuffer[] = []): Promise<Report> {
		return new Promise((resolve) => {
			this.#waiting.push({ order, resolve });
			try {
				const worker = this.#start();
				worker.ref();
				worker.postMessage(order, transfer);
			} catch (error) {
				this.#fail(this.#worker, error as Error);
			}
		});
	}

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

	#fail(worker: Worker | null, { message: reason }: Error): void {
		if (this.#worker !== worker) return;
		this.#worker = null;
		for (const { order, resolve } of this.#waiting.splice(0)) {
			const failed = order.kind === "write" ? order.layers.map(([smallkey]) => smallkey) : [];
			resolve({ failed, reason, changes: {}, written: 0, hasMadeFolder: false });
		}
	}
}
