import { Worker } from "node:worker_threads";
import type { Order, Report } from "./folder-thread.mjs";
import { otherFolders, pack, type RenderedLayer, type Slot, slotFolder } from "./rendered.ts";

/** Opens a folder of rendered files. A thread writes them; it starts with the first order. */
export function openFolder(out: string, slots: readonly Slot[]) {
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

	function fail(ended: Worker | null, { message: reason }: Error): void {
		if (worker !== ended) return;
		worker = null;
		for (const { order, resolve } of waiting.splice(0)) {
			const failed = order ? order.layers.map(([smallkey]) => smallkey) : [];
			resolve({ found: new Map(), failed, reason, changes: {}, written: 0, hasMadeFolder: false });
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

	/** Lists the files, and removes those of other targets and of killed processes. Never rejects. */
	const list = () => ask(null);

	/**
	 * Writes the files of layers; removes the files of a layer that is null. Never rejects.
	 * @param isFresh whether the folders are empty and have no readers: files are written directly into their place
	 */
	function write(
		entries: readonly (readonly [smallkey: string, RenderedLayer | null])[],
		isFresh = false,
	): Promise<Report> {
		const { layers, bytes } = pack(entries);
		return ask({ layers, bytes, isFresh }, [bytes.buffer]);
	}

	return { list, write, close: async () => void (await worker?.terminate()) };
}
