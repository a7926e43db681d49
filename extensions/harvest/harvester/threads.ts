import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import type { NetworkSettings } from "../../../api/service/settings.ts";
import { type Cause, causeOf } from "../../../registry/causes.ts";
import type { Description } from "../../../registry/description.ts";
import type { Registration } from "../../../registry/registration.ts";
import { langs } from "../../../registry/smallkey.ts";
import { findingOf, type Harvested, quote, type Watched } from "../finding.ts";
import type { Schedule } from "./schedule.ts";

/** The limits of a thread; a valid answer of 5 MB is far below them. */
export const threadLimits = {
	/** Size of its heap, in megabytes. */
	maxHeapMb: 256,
	/** Longest block of its event loop, in milliseconds. */
	maxBusyMs: 10_000,
	/** Longest start, in milliseconds. */
	maxStartMs: 60_000,
	/** Longest time for one layer with all its requests, in milliseconds. */
	maxLayerMs: 300_000,
};

/** Number of signs of life of a thread within `maxBusyMs`. */
const beats = 5;

/** The settings that a thread starts with. */
export interface ThreadSettings {
	network: NetworkSettings;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
	/** Address of the catalogue; empty if unknown. */
	site: string;
	/** Time between two signs of life, and the longest time for one layer, in milliseconds. */
	beatMs: number;
	maxLayerMs: number;
}

/** An order for a thread: to harvest or to watch a layer. The thread aborts its requests at the time limit. */
export interface Order {
	id: number;
	task: "harvest" | "watch";
	registration: Registration;
	/** The description from the last harvest. */
	known: Description | null;
}

/** Messages of a thread: the result of an order, or null as a sign of life. */
export type Report = { id: number; result: Harvested | Watched } | null;

interface ThreadOptions {
	entry: URL;
	settings: Pick<ThreadSettings, "network" | "mapWkid" | "site">;
	limits: typeof threadLimits;
	timers: Schedule["timers"];
}

/** The result of an order if the thread ended instead: why, and its number of unfinished orders. */
type Ended = { reason: Cause; layers: number };

/** Starts and supervises a thread that requests services. The thread does not keep the process alive. */
function startThread({ entry, settings, limits, timers }: ThreadOptions) {
	const { maxHeapMb, maxBusyMs, maxStartMs, maxLayerMs } = limits;
	const beatMs = maxBusyMs / beats;
	const workerData: ThreadSettings = { ...settings, beatMs, maxLayerMs };
	// Without an environment: it contains secrets, and the thread parses untrusted answers.
	const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 16 };
	const worker = new Worker(entry, { workerData, execArgv: [], env: {}, resourceLimits });
	const waiting = new Map<number, (result: Harvested | Watched | Ended) => void>();
	let lastId = 0;
	let hasEnded = false;
	let reason = causeOf("thread-ended");
	let silentMs = 0;
	let maxSilentMs = maxStartMs;
	let timer: unknown;

	function watch(): void {
		timer = timers.set(() => {
			// Adds up timer steps, not real time: if the main thread is blocked, the other thread must not be ended.
			silentMs += beatMs;
			if (silentMs <= maxSilentMs) return watch();
			reason = causeOf("read-slow", maxSilentMs / 1000);
			void worker.terminate();
		}, beatMs);
	}

	worker.unref();
	worker.on("message", (report: Report) => {
		silentMs = 0;
		maxSilentMs = maxBusyMs;
		if (!report) return;
		waiting.get(report.id)?.(report.result);
		waiting.delete(report.id);
	});
	worker.on("error", (error: NodeJS.ErrnoException) => {
		const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
		reason = isMemory ? causeOf("memory", maxHeapMb) : causeOf("unread", quote(error.message));
	});
	worker.on("exit", () => {
		hasEnded = true;
		timers.clear(timer);
		for (const resolve of waiting.values()) resolve({ reason, layers: waiting.size });
	});
	watch();

	/** Carries out an order. Never rejects. */
	function run(order: Omit<Order, "id">): Promise<Harvested | Watched | Ended> {
		return new Promise((resolve) => {
			if (hasEnded) return resolve({ reason, layers: 1 });
			lastId += 1;
			waiting.set(lastId, resolve);
			worker.postMessage({ id: lastId, ...order } satisfies Order);
		});
	}
	return { run, hasEnded: () => hasEnded, isIdle: () => waiting.size === 0, end: () => worker.terminate() };
}

/** After this idle time a thread is ended, to free its memory, in milliseconds. */
const idleMs = 30_000;

/**
 * Harvests outside the main thread, in a common thread that exists only while there is work. If a service's answer ends
 * the thread, each of its layers is harvested again in a thread of its own. A layer that ends its own thread, too, gets
 * the finding.
 */
export function createHarvestThreads(options: ThreadOptions) {
	const { timers } = options;
	const pool = pLimit(1);
	let common: ReturnType<typeof startThread> | null = null;
	/** The thread with a single layer. */
	let own: ReturnType<typeof startThread> | null = null;
	let idle: unknown = null;

	/** Returns a function that carries out a task for a layer. It rejects only if its signal aborts. */
	function taskOf<T extends Harvested | Watched>(task: Order["task"]) {
		return async (registration: Registration, signal?: AbortSignal, known: Description | null = null) => {
			const order = { task, registration, known };
			signal?.throwIfAborted();
			let result = await runTogether(order);
			signal?.throwIfAborted();
			if ("reason" in result && result.layers > 1) {
				result = await pool(async () => {
					signal?.throwIfAborted();
					own = startThread(options);
					return own.run(order).finally(own.end);
				});
			}
			if (!("reason" in result)) return result as T;
			// A finding for each language, since it is not known whose answer ended the thread.
			const trouble = { state: "down", what: result.reason } as const;
			const findings = langs.map((lang) => findingOf(registration, lang, trouble));
			const nothing: Harvested & Watched = { found: {}, partial: new Set(), state: "down", findings };
			return nothing as Harvested | Watched as T;
		};
	}

	async function runTogether(order: Omit<Order, "id">) {
		timers.clear(idle);
		if (!common || common.hasEnded()) common = startThread(options);
		const thread = common;
		const result = await thread.run(order);
		if (thread.hasEnded() || !thread.isIdle()) return result;
		timers.clear(idle);
		idle = timers.set(() => {
			if (!thread.isIdle()) return;
			common = null;
			void thread.end();
		}, idleMs);
		return result;
	}

	return {
		harvest: taskOf<Harvested>("harvest"),
		watch: taskOf<Watched>("watch"),
		/** Ends all threads. To be called once the signals of all harvests and checks have aborted. */
		async close(): Promise<void> {
			timers.clear(idle);
			await Promise.all([common?.end(), own?.end()]);
		},
	};
}
