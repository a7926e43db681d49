import type { Finding } from "../../harvest/finding.ts";
import type { Harvested } from "../../harvest/harvest-layer.ts";
import { createPool } from "../../harvest/net/pool.ts";
import type { Watched } from "../../harvest/watch-layer.ts";
import type { Registration } from "../../registry/registration.ts";
import { langs } from "../../registry/smallkey.ts";
import type { HarvestLayer } from "./commit.ts";
import {
	type AskedLayer,
	type Results,
	startThread,
	type Task,
	type Thread,
	ThreadEnded,
	type ThreadOptions,
} from "./thread.ts";
import type { WatchLayer } from "./watcher.ts";

/** The limits of the harvester's threads; a valid answer of 5 MB is far below them. */
export const threadLimits = {
	maxHeapMb: 256,
	maxBusyMs: 10_000,
	maxStartMs: 60_000,
	maxLayerMs: 300_000,
};

/** After this idle time a thread is ended, to free its memory, in milliseconds. */
const idleMs = 30_000;

/** Harvests outside the main thread. */
export interface HarvestThreads {
	/** Harvests a layer. Rejects only where its signal aborts. */
	harvest: HarvestLayer;
	/** Checks a layer as a viewer sees it. Rejects only where its signal aborts. */
	watch: WatchLayer;
	/** Terminates all threads. */
	close(): Promise<void>;
}

/**
 * Harvests in a thread that exists only while there is work. Where a service's answer ends the thread, each of its
 * layers is harvested again in a thread of its own: the layer that ends that thread, too, gets the finding.
 */
export function createHarvestThreads(options: ThreadOptions): HarvestThreads {
	const { timers } = options;
	const alone = createPool(1);
	const threads = new Set<Thread>();
	let common: Thread | null = null;
	let idle: unknown = null;

	function start(): Thread {
		const thread = startThread(options);
		threads.add(thread);
		return thread;
	}

	async function end(thread: Thread): Promise<void> {
		if (common === thread) common = null;
		threads.delete(thread);
		await thread.end();
	}

	async function runTogether<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal) {
		timers.clear(idle);
		if (!common || common.hasEnded) common = start();
		const thread = common;
		try {
			return await thread.run(task, layer, signal);
		} finally {
			if (thread.hasEnded) threads.delete(thread);
			else if (thread.layers === 0) endLater(thread);
		}
	}

	function endLater(thread: Thread): void {
		timers.clear(idle);
		idle = timers.set(() => {
			if (thread.layers === 0) void end(thread);
		}, idleMs);
	}

	async function runAlone<T extends Task>(task: T, layer: AskedLayer, signal: AbortSignal) {
		signal.throwIfAborted();
		const thread = start();
		try {
			return await thread.run(task, layer, signal);
		} finally {
			await end(thread);
		}
	}

	/** The result of a task, or why its services' answers end a thread. */
	async function run<T extends Task>(
		task: T,
		layer: AskedLayer,
		signal: AbortSignal,
	): Promise<Results[T] | ThreadEnded> {
		const together = await runTogether(task, layer, signal).catch(endedOnly);
		if (!(together instanceof ThreadEnded) || together.layers === 1) return together;
		return alone.withSlot(() => runAlone(task, layer, signal).catch(endedOnly));
	}

	return {
		async harvest(registration, signal, known = null) {
			const result = await run("harvest", { registration, known }, signal);
			return result instanceof ThreadEnded ? notHarvested(registration, result) : result;
		},
		async watch(registration, signal, known = null) {
			const result = await run("watch", { registration, known }, signal);
			return result instanceof ThreadEnded ? notWatched(registration, result) : result;
		},
		async close() {
			timers.clear(idle);
			await Promise.all([...threads].map(end));
		},
	};
}

/** @throws any other error */
function endedOnly(error: unknown): ThreadEnded {
	if (error instanceof ThreadEnded) return error;
	throw error;
}

function notHarvested(registration: Registration, ended: ThreadEnded): Harvested {
	return { found: {}, partial: new Set(), findings: findingsOf(registration, ended) };
}

function notWatched(registration: Registration, ended: ThreadEnded): Watched {
	const findings = findingsOf(registration, ended);
	return {
		state: "down",
		findings: findings.map(({ kind: _kind, ...finding }) => ({ ...finding, state: "down" as const })),
		checked: { facts: {}, findings },
	};
}

/** Findings for both languages, since it is not known which of the two it was. */
function findingsOf(registration: Registration, { message }: ThreadEnded): Finding[] {
	return langs.map((lang) => {
		const text = `${registration[lang].service_url} sent what ${message}`;
		return { kind: "server", lang, pointer: `/${lang}/service_url`, text };
	});
}
