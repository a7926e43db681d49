import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { targetNames, targetOf } from "../registry/targets/table.ts";
import type { Found, Written } from "./folder-thread.mjs";
import { pack, type Slot, slotFolder } from "./rendered.ts";

/** Smallkeys with their fragments; null: the layer is removed. */
export type Entries = Parameters<typeof pack>[0];

/** Opens a folder of rendered files. A thread writes them; it starts with the first order. */
export function openFolder(out: string, slots: readonly Slot[]) {
	const others = targetNames.filter((name) => slots.every(({ target }) => target !== name));
	const otherFolders = others.map((name) => targetOf(name).doc);
	const workerData = { out, folders: slots.map(slotFolder), otherFolders };
	let worker: Worker | null = null;
	/** Settles when the last order is carried out. */
	let last: Promise<unknown> = Promise.resolve();

	function start(): Worker {
		const thread = new URL("./folder-thread.mjs", import.meta.url);
		return new Worker(thread, { workerData, execArgv: [], env: {} }).on("error", () => {
			worker = null;
		});
	}

	/** Carries out an order after all earlier ones. @throws {Error} if the thread fails; the next order starts another */
	function ask<T>(orderOf: () => { bytes: Uint8Array<ArrayBuffer> } | null): Promise<T> {
		const answer = last.then(async () => {
			worker ??= start();
			const order = orderOf();
			worker.ref();
			worker.postMessage(order, order ? [order.bytes.buffer] : []);
			const [report] = await once(worker, "message");
			// An idle thread does not keep the process alive.
			worker?.unref();
			return report as T;
		});
		last = answer.catch(() => undefined);
		return answer;
	}

	/**
	 * Writes the files of layers; removes the files of a layer that is null. Never rejects: the report has the failures.
	 * @param entriesOf called once all earlier orders are carried out
	 * @param isFresh whether the folders are empty and have no readers: files are written directly into their place
	 */
	function write(entriesOf: () => Entries, isFresh = false): Promise<Written> {
		return ask<Written>(() => ({ ...pack(entriesOf()), isFresh })).catch(({ message }: Error) => {
			const failed = entriesOf().map(([smallkey]) => smallkey);
			return { failed, reason: message, changes: {}, written: 0, hasMadeFolder: false };
		});
	}

	return {
		/** Lists the files, and removes those of other targets and of killed processes. @throws {Error} if it cannot */
		list: () => ask<Found>(() => null),
		write,
		/** Waits until all orders are carried out. */
		idle: () => last,
		close: () => last.then(() => worker?.terminate()),
	};
}
