import { Worker } from "node:worker_threads";
import type { Entry } from "./entry.ts";
import type { Order, Report, WrittenLayer } from "./folder-thread.mjs";
import { otherFolders, type Slot, slotFolder } from "./slots.ts";

/** Opens a thread that writes rendered files. The thread starts with the first order. */
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
			// An idle thread does not keep the process alive.
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

	/** Carries out an order after all earlier ones. Never rejects: the report has the reason if the thread fails. */
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

	/** Writes the files of layers; removes the files of a layer whose entry is null. Never rejects. */
	function write(layers: readonly (readonly [smallkey: string, Entry | null])[]): Promise<Report> {
		const written = layers.map(([smallkey, entry]): WrittenLayer => [smallkey, entry?.ends ?? []]);
		const parts = layers.flatMap(([, entry]) => entry?.bytes ?? []);
		// A copy, because its buffer is transferred: an entry's bytes may be a view of a buffer with other entries.
		const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
		let offset = 0;
		for (const part of parts) {
			bytes.set(part, offset);
			offset += part.length;
		}
		return ask({ kind: "write", layers: written, bytes }, [bytes.buffer]);
	}

	return { ask, write, close: async () => void (await worker?.terminate()) };
}
