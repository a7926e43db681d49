import { Worker } from "node:worker_threads";
import type { Harvested } from "../../harvest/harvest-layer.ts";
import type { Watched } from "../../harvest/watch-layer.ts";
import type { Description } from "../../registry/description.ts";
import type { Registration } from "../../registry/registration.ts";
import type { HarvestSettings } from "../settings.ts";
import type { Timers } from "./schedule.ts";

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

export interface ThreadOptions {
	entry: URL;
	settings: ThreadSettings;
	limits: typeof threadLimits;
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

interface Job {
	resolve(result: Results[Task]): void;
	reject(error: unknown): void;
}

/** Number of pings within `maxBusyMs`. */
const parts = 5;

/** A thread that requests services, and its supervision. It does not keep the process alive. */
export class Thread {
	readonly #limits: typeof threadLimits;
	readonly #timers: Timers;
	readonly #worker: Worker;
	readonly #jobs = new Map<number, Job>();
	#lastId = 0;
	#hasEnded = false;
	#reason = "ends the thread that reads it";
	#silentMs = 0;
	#patienceMs: number;
	#watch: unknown;

	constructor({ entry, settings, limits, timers }: ThreadOptions) {
		this.#limits = limits;
		this.#timers = timers;
		this.#patienceMs = limits.maxStartMs;
		this.#worker = new Worker(entry, {
			workerData: settings,
			execArgv: [],
			// The environment contains secrets, and the thread parses foreign answers.
			env: {},
			resourceLimits: { maxOldGenerationSizeMb: limits.maxHeapMb, maxYoungGenerationSizeMb: 16 },
		});
		this.#worker.unref();
		this.#worker.on("message", (message: FromThread) => this.#take(message));
		this.#worker.on("error", (error: NodeJS.ErrnoException) => {
			const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
			const { maxHeapMb } = limits;
			this.#reason = isMemory
				? `takes more than ${maxHeapMb} MB to be read`
				: `cannot be read: ${error.message}`;
		});
		this.#worker.on("exit", () => {
			this.#hasEnded = true;
			timers.clear(this.#watch);
			const layers = this.#jobs.size;
			for (const { reject } of this.#jobs.values()) reject(new ThreadEnded(this.#reason, layers));
		});
		this.#lookLater();
	}

	/** Number of layers in progress. */
	get layers(): number {
		return this.#jobs.size;
	}

	get hasEnded(): boolean {
		return this.#hasEnded;
	}

	async end(): Promise<void> {
		await this.#worker.terminate();
	}

	/**
	 * Harvests or watches a layer. At the time limit its requests are aborted, which its findings say.
	 * @throws {ThreadEnded} where the thread ends first
	 */
	async run<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal): Promise<Results[T]> {
		signal.throwIfAborted();
		this.#lastId += 1;
		const id = this.#lastId;
		const abort = () => this.#send({ kind: "abort", id });
		const late = this.#timers.set(abort, this.#limits.maxLayerMs);
		const give = () => {
			abort();
			this.#jobs.get(id)?.reject(signal.reason);
		};
		signal.addEventListener("abort", give, { once: true });
		try {
			return await new Promise<Results[T]>((resolve, reject) => {
				this.#jobs.set(id, { resolve: (result) => resolve(result as Results[T]), reject });
				if (this.#hasEnded) reject(new ThreadEnded(this.#reason, 1));
				else this.#send({ kind: task, id, ...layer });
			});
		} finally {
			this.#jobs.delete(id);
			this.#timers.clear(late);
			signal.removeEventListener("abort", give);
		}
	}

	#take(message: FromThread): void {
		this.#silentMs = 0;
		this.#patienceMs = this.#limits.maxBusyMs;
		if (message.kind === "done") this.#jobs.get(message.id)?.resolve(message.result);
	}

	/** Pings the thread from time to time, and terminates it where it is silent for too long. */
	#lookLater(): void {
		const stepMs = this.#limits.maxBusyMs / parts;
		this.#watch = this.#timers.set(() => {
			// Steps are counted, not time: a block of this thread must not end the other one.
			this.#silentMs += stepMs;
			if (this.#silentMs > this.#patienceMs) {
				this.#reason = `takes more than ${this.#patienceMs / 1000} s to be read`;
				void this.#worker.terminate();
				return;
			}
			this.#send({ kind: "ping" });
			this.#lookLater();
		}, stepMs);
	}

	#send(message: ToThread): void {
		this.#worker.postMessage(message);
	}
}
