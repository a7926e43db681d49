import type { Finding } from "../../harvest/finding.ts";
import { createPool } from "../../harvest/net/pool.ts";
import type { Registration } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import type { HarvestLayer } from "./commit.ts";
import {
	type AskedLayer,
	type Results,
	type Task,
	Thread,
	ThreadEnded,
	type ThreadOptions,
} from "./thread.ts";
import type { WatchLayer } from "./watcher.ts";

/** After this idle time a thread is ended, to free its memory, in milliseconds. */
const idleMs = 30_000;

/**
 * Harvests outside the main thread, in a thread that exists only while there is work. Where a service's answer ends the
 * thread, each of its layers is harvested again in a thread of its own: the layer that ends that thread, too, gets the
 * finding.
 */
export class HarvestThreads {
	readonly #options: ThreadOptions;
	readonly #alone = createPool(1);
	readonly #threads = new Set<Thread>();
	#common: Thread | null = null;
	#idle: unknown = null;

	constructor(options: ThreadOptions) {
		this.#options = options;
	}

	/** Harvests a layer. Rejects only where its signal aborts. */
	readonly harvest: HarvestLayer = async (registration, signal, known = null) => {
		const result = await this.#run("harvest", { registration, known }, signal);
		if (!(result instanceof ThreadEnded)) return result;
		return { found: {}, partial: new Set(), findings: findingsOf(registration, result) };
	};

	/** Checks a layer as a viewer sees it. Rejects only where its signal aborts. */
	readonly watch: WatchLayer = async (registration, signal, known = null) => {
		const result = await this.#run("watch", { registration, known }, signal);
		if (!(result instanceof ThreadEnded)) return result;
		const findings = findingsOf(registration, result);
		return {
			state: "down",
			findings: findings.map(({ kind: _kind, ...finding }) => ({ ...finding, state: "down" as const })),
		};
	};

	async close(): Promise<void> {
		this.#options.timers.clear(this.#idle);
		await Promise.all([...this.#threads].map((thread) => this.#end(thread)));
	}

	/** The result of a task, or why its services' answers end a thread. */
	async #run<T extends Task>(
		task: T,
		layer: AskedLayer,
		signal: AbortSignal,
	): Promise<Results[T] | ThreadEnded> {
		const together = await this.#runTogether(task, layer, signal).catch(endedOnly);
		if (!(together instanceof ThreadEnded) || together.layers === 1) return together;
		return this.#alone.withSlot(() => this.#runAlone(task, layer, signal).catch(endedOnly));
	}

	async #runTogether<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal) {
		const { timers } = this.#options;
		timers.clear(this.#idle);
		if (!this.#common || this.#common.hasEnded) this.#common = this.#start();
		const thread = this.#common;
		try {
			return await thread.run(task, layer, signal);
		} finally {
			if (thread.hasEnded) this.#threads.delete(thread);
			else if (thread.layers === 0) {
				timers.clear(this.#idle);
				this.#idle = timers.set(() => {
					if (thread.layers === 0) void this.#end(thread);
				}, idleMs);
			}
		}
	}

	async #runAlone<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal) {
		signal.throwIfAborted();
		const thread = this.#start();
		try {
			return await thread.run(task, layer, signal);
		} finally {
			await this.#end(thread);
		}
	}

	#start(): Thread {
		const thread = new Thread(this.#options);
		this.#threads.add(thread);
		return thread;
	}

	async #end(thread: Thread): Promise<void> {
		if (this.#common === thread) this.#common = null;
		this.#threads.delete(thread);
		await thread.end();
	}
}

/** @throws any other error */
function endedOnly(error: unknown): ThreadEnded {
	if (error instanceof ThreadEnded) return error;
	throw error;
}

/** Findings for both languages, since it is not known which of the two it was. */
function findingsOf(registration: Registration, { message }: ThreadEnded): Finding[] {
	return langs.map((lang) => {
		const text = `${registration[lang].service_url} sent what ${message}`;
		return { kind: "server", lang, pointer: `/${lang}/service_url`, text };
	});
}
