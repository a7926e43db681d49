import { Worker } from "node:worker_threads";
import type { Entry } from "./entry.ts";
import type { Order, Report, WrittenLayer } from "./folder-thread.mjs";
import { otherFolders, type Slot, slotFolder } from "./slots.ts";

/** A thread that writes rendered files. It starts with the first order. */
export function openFolderThread(out: string, slots: readonly Slot[]) {
	const workerData = { out, folders: slots.map(slotFolder), others: otherFolders(slots) };
	let worker: Worker | null = null;
	const waiting: { order: Order; resolve: (report: Report) => void }[] = [];

	function start(): Worker {
		const started = new Worker(new URL("./folder-thread.mjs", import.meta.url), {
			workerData,
			execArgv: [],
			env: {},
		});
		started.on("message", (report: Report) => {
			waiting.shift()?.resolve(report);
			// Alone it does not keep the process alive.
			if (waiting.length === 0) started.unref();
		});
		started.on("error", (error) => fail(started, error));
		started.on("exit", () => fail(started, new Error("the thread that writes files has ended")));
		return started;
	}

	function fail(failed: Worker | null, { message: reason }: Error): void {
		if (worker !== failed) return;
		worker = null;
		for (const { order, resolve } of waiting.splice(0)) {
			const failed = order.kind === "write" ? order.layers.map(([smallkey]) => smallkey) : [];
			resolve({ failed, reason, changes: {}, written: 0, hasMadeFolder: false });
		}
	}

	/** Carries out an order after those before it. Never rejects: the report says where the thread fails. */
	function ask(order: Order, transfer: ArrayBuffer[] = []): Promise<Report> {
		return new Promise((resolve) => {
			waiting.push({ order, resolve });
			try {
				worker ??= start();
				worker.ref();
				worker.postMessage(order, transfer);
			} catch (error) {
				fail(worker, error as Error);
			}
		});
	}

	/** Writes the files of layers, or removes them for null. Never rejects. */
	function write(layers: readonly (readonly [smallkey: string, Entry | null])[]): Promise<Report> {
		const written = layers.map(([smallkey, entry]): WrittenLayer => [smallkey, entry?.ends ?? []]);
		const runs = layers.flatMap(([, entry]) => entry?.bytes ?? []);
		// Their own memory, which is handed over: a layer may be a part of a long run of bytes.
		const bytes = new Uint8Array(runs.reduce((total, run) => total + run.length, 0));
		let offset = 0;
		for (const run of runs) {
			bytes.set(run, offset);
			offset += run.length;
		}
		return ask({ kind: "write", layers: written, bytes }, [bytes.buffer]);
	}

	return { ask, write, close: async () => void (await worker?.terminate()) };
}
