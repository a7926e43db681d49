import { Worker } from "node:worker_threads";
import type { Harvested } from "../../harvest/harvest-layer.ts";
import type { Watched } from "../../harvest/watch-layer.ts";
import type { Registration } from "../../registry/registration.ts";
import type { HarvestSettings } from "../settings.ts";
import type { Timers } from "./timers.ts";

/** What a thread is started with. */
export interface ThreadSettings {
	harvest: HarvestSettings;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** What a thread can be asked for of a layer, and what comes of it. */
export interface Results {
	harvest: Harvested;
	watch: Watched;
}
export type Task = keyof Results;

/** What is said to a thread. */
export type ToThread =
	| { kind: Task; id: number; registration: Registration }
	| { kind: "abort"; id: number }
	| { kind: "ping" };

/** What a thread says; `alive` when it has started, and to each ping. */
export type FromThread = { kind: "alive" } | { kind: "done"; id: number; result: Results[Task] };

/** What a thread may take. */
export interface ThreadLimits {
	/** Memory of its heap, in megabytes. */
	maxHeapMb: number;
	/** Longest that it may be busy with one thing, in milliseconds. */
	maxBusyMs: number;
	/** Longest that its start may take, in milliseconds. */
	maxStartMs: number;
	/** Longest that one layer may take, all of its requests included, in milliseconds. */
	maxLayerMs: number;
}

/** How a thread is started. */
export interface ThreadOptions {
	/** What it runs. */
	entry: URL;
	settings: ThreadSettings;
	limits: ThreadLimits;
	timers: Timers;
}

/** A thread ended while layers were under way in it. */
export class ThreadEnded extends Error {
	/** How many layers that were. */
	readonly layers: number;

	/** @param reason as the rest of a sentence about an answer: `takes more than 256 MB to be read` */
	constructor(reason: string, layers: number) {
		super(reason);
		this.name = "ThreadEnded";
		this.layers = layers;
	}
}

/** A thread that asks services. */
export interface Thread {
	/**
	 * Harvests a layer, or looks at it. Past its time it is cut off, and what was not asked to the end is among its
	 * findings.
	 * @throws {ThreadEnded} where the thread ends before the layer does
	 */
	run<T extends Task>(task: T, registration: Registration, signal: AbortSignal): Promise<Results[T]>;
	/** Ends the thread, whatever it does. */
	end(): Promise<void>;
	/** How many layers are under way. */
	readonly layers: number;
	readonly hasEnded: boolean;
}

interface Job {
	resolve(result: Results[Task]): void;
	reject(error: unknown): void;
}

/** In so many parts the time is divided in which a thread has to be heard of. */
const parts = 5;

/** Starts a thread, and watches it until it ends. It does not keep the process alive. */
export function startThread({ entry, settings, limits, timers }: ThreadOptions): Thread {
	const { maxHeapMb, maxBusyMs, maxStartMs, maxLayerMs } = limits;
	const worker = new Worker(entry, {
		workerData: settings,
		execArgv: [],
		// Nothing of this process's configuration: it holds secrets, and the thread reads what strangers answer.
		env: {},
		resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 16 },
	});
	worker.unref();
	const jobs = new Map<number, Job>();
	let lastId = 0;
	let hasEnded = false;
	let reason = "ends the thread that reads it";
	let silentMs = 0;
	let patienceMs = maxStartMs;
	const stepMs = maxBusyMs / parts;
	let watch = timers.set(look, stepMs);

	/** Counts the steps and not the time: where this thread itself was held up, the other one is not to blame. */
	function look(): void {
		silentMs += stepMs;
		if (silentMs > patienceMs) {
			reason = `takes more than ${patienceMs / 1000} s to be read`;
			void worker.terminate();
			return;
		}
		send({ kind: "ping" });
		watch = timers.set(look, stepMs);
	}

	function send(message: ToThread): void {
		worker.postMessage(message);
	}

	worker.on("message", (message: FromThread) => {
		silentMs = 0;
		patienceMs = maxBusyMs;
		if (message.kind !== "done") return;
		jobs.get(message.id)?.resolve(message.result);
	});
	worker.on("error", (error: NodeJS.ErrnoException) => {
		const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
		reason = isMemory ? `takes more than ${maxHeapMb} MB to be read` : `cannot be read: ${error.message}`;
	});
	worker.on("exit", () => {
		hasEnded = true;
		timers.clear(watch);
		const layers = jobs.size;
		for (const { reject } of jobs.values()) reject(new ThreadEnded(reason, layers));
	});

	async function run<T extends Task>(
		task: T,
		registration: Registration,
		signal: AbortSignal,
	): Promise<Results[T]> {
		signal.throwIfAborted();
		lastId += 1;
		const id = lastId;
		const abort = () => send({ kind: "abort", id });
		const late = timers.set(abort, maxLayerMs);
		const give = () => {
			abort();
			jobs.get(id)?.reject(signal.reason);
		};
		signal.addEventListener("abort", give, { once: true });
		try {
			return await new Promise<Results[T]>((resolve, reject) => {
				jobs.set(id, { resolve: (result) => resolve(result as Results[T]), reject });
				if (hasEnded) reject(new ThreadEnded(reason, 1));
				else send({ kind: task, id, registration });
			});
		} finally {
			jobs.delete(id);
			timers.clear(late);
			signal.removeEventListener("abort", give);
		}
	}

	return {
		run,
		async end() {
			await worker.terminate();
		},
		get layers() {
			return jobs.size;
		},
		get hasEnded() {
			return hasEnded;
		},
	};
}
