import { Worker } from "node:worker_threads";
import type { Harvested } from "../../harvest/harvest-layer.ts";
import type { Watched } from "../../harvest/watch-layer.ts";
import type { Description } from "../../registry/description.ts";
import type { Registration } from "../../registry/registration.ts";
import type { HarvestSettings } from "../settings.ts";
import type { Timers } from "./timers.ts";

/** The data of a thread. */
export interface ThreadSettings {
	harvest: HarvestSettings;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** The tasks of a thread, with their results. */
export interface Results {
	harvest: Harvested;
	watch: Watched;
}
export type Task = keyof Results;

/** A layer, and what was harvested of it before. */
export interface AskedLayer {
	registration: Registration;
	known: Description | null;
}

/** Messages to a thread. */
export type ToThread =
	| ({ kind: Task; id: number } & AskedLayer)
	| { kind: "abort"; id: number }
	| { kind: "ping" };

/** Messages from a thread; `alive` after its start, and as the answer to a ping. */
export type FromThread = { kind: "alive" } | { kind: "done"; id: number; result: Results[Task] };

/** The limits of a thread. */
export interface ThreadLimits {
	/** Size of its heap, in megabytes. */
	maxHeapMb: number;
	/** Longest block of its event loop, in milliseconds. */
	maxBusyMs: number;
	/** Longest start, in milliseconds. */
	maxStartMs: number;
	/** Longest time for one layer with all its requests, in milliseconds. */
	maxLayerMs: number;
}

/** The options of a thread. */
export interface ThreadOptions {
	/** Its module. */
	entry: URL;
	settings: ThreadSettings;
	limits: ThreadLimits;
	timers: Timers;
}

/** A thread ended while it was processing layers. */
export class ThreadEnded extends Error {
	/** The number of those layers. */
	readonly layers: number;

	/** @param reason completes a sentence about an answer: `takes more than 256 MB to be read` */
	constructor(reason: string, layers: number) {
		super(reason);
		this.name = "ThreadEnded";
		this.layers = layers;
	}
}

/** A thread that requests services. */
export interface Thread {
	/**
	 * Harvests or watches a layer. At the time limit its requests are aborted, which its findings say.
	 * @throws {ThreadEnded} where the thread ends first
	 */
	run<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal): Promise<Results[T]>;
	/** Terminates the thread. */
	end(): Promise<void>;
	/** Number of layers in progress. */
	readonly layers: number;
	readonly hasEnded: boolean;
}

interface Job {
	resolve(result: Results[Task]): void;
	reject(error: unknown): void;
}

/** Number of pings within `maxBusyMs`. */
const parts = 5;

/** Starts a thread and supervises it. It does not keep the process alive. */
export function startThread({ entry, settings, limits, timers }: ThreadOptions): Thread {
	const { maxHeapMb, maxBusyMs, maxStartMs, maxLayerMs } = limits;
	const worker = new Worker(entry, {
		workerData: settings,
		execArgv: [],
		// The environment contains secrets, and the thread parses foreign answers.
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

	/** Counts steps instead of time, so that a block of this thread does not end the other one. */
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

	async function run<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal): Promise<Results[T]> {
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
				else send({ kind: task, id, ...layer });
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
