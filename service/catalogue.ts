import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { CatalogueOptions } from "../catalogue/options.ts";
import { startProcess } from "../publish/range.ts";
import type { Log } from "../store/log.ts";
import type { CatalogueOrder, CatalogueReport } from "./catalogue-worker.ts";

/** Times of the catalogue in milliseconds, and its memory. */
const ordinaryLimits = {
	/** How long changes are collected before an update. */
	gatherMs: 50,
	/** How often the files are checked. */
	checkMs: 60_000,
	/** The first pause after a failure, and the longest: each is twice the last. */
	retryMs: 1_000,
	maxRetryMs: 60_000,
	/** How long an end waits for a running update. */
	endMs: 5_000,
	/** Resident bytes of its process above which it is replaced at rest: only its end frees the memory. */
	maxIdleBytes: 160e6,
};

export type CatalogueLimits = typeof ordinaryLimits;

interface ServiceCatalogueOptions {
	repository: string;
	out: string;
	/** Its options, read for each update: senders come and go. */
	options: () => CatalogueOptions;
	/** Gets one warning when it cannot be written, and one when it is current again. */
	log: Log;
	limits?: Partial<CatalogueLimits> | undefined;
}

/** The process has a lower priority than the one that answers readers and publishers. */
const niceness = 10;
/** Commits during one update up to which the next one follows soon: more are many publishers at work. */
const fewCommits = 10;
/** The pause after an update, as a multiple of its time: a busy service gives it a quarter of one processor. */
const pausesPerUpdate = 3;
/** The longest pause between two updates, for few commits and for many, in milliseconds. */
const maxPauseMs = { few: 300, many: 60_000 };

/**
 * The catalogue of a running service, which a process of its own updates to the branch. It is derived: where it fails,
 * reads and writes of layers continue, and the update is retried.
 */
export function openCatalogue({ repository, out, options, log, limits = {} }: ServiceCatalogueOptions) {
	const { gatherMs, checkMs, retryMs, maxRetryMs, endMs, maxIdleBytes } = { ...ordinaryLimits, ...limits };
	const closing = new AbortController();
	const { signal } = closing;
	let worker: ChildProcess | null = null;
	let wanted: string | null = null;
	/** Number of commits since the last update began. */
	let commits = 0;
	/** Whether an update is due although the commit is the same. */
	let isDue = false;
	let updatedTo: string | null = null;
	/** Why the last update failed. */
	let failure: string | null = null;
	let working: Promise<void> | null = null;

	function work(): void {
		if (signal.aborted) return;
		working ??= runRounds().finally(() => {
			working = null;
		});
	}

	async function runRounds(): Promise<void> {
		const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
		for (let failures = 0; wanted !== null && (wanted !== updatedTo || isDue); ) {
			await pause(gatherMs);
			if (signal.aborted) return;
			const start = performance.now();
			const isDone = await update(wanted);
			failures = isDone ? 0 : failures + 1;
			// Leaves the processor to others for a while, the longer the more there was to do.
			const restMs = (performance.now() - start) * pausesPerUpdate;
			const longestMs = commits <= fewCommits ? maxPauseMs.few : maxPauseMs.many;
			if (isDone) await pause(Math.min(restMs, longestMs));
			else await pause(Math.min(retryMs * 2 ** (failures - 1), maxRetryMs));
		}
	}

	/** Updates the catalogue to a commit; false where that failed. */
	async function update(commit: string): Promise<boolean> {
		commits = 0;
		isDue = false;
		const report = await ask({ repository, commit, out, options: options() });
		if ("reason" in report) {
			updatedTo = null;
			if (failure === null && !signal.aborted) log.warn(`the catalogue cannot be updated: ${report.reason}`);
			failure = report.reason;
			return false;
		}
		if (failure !== null) log.warn("the catalogue is current again");
		failure = null;
		updatedTo = commit;
		// While many publish, the next update would wait for a process that starts.
		const isIdle = commits === 0;
		const isLarge = report.residentBytes > maxIdleBytes;
		if (report.outcome.how === "all" || (isIdle && isLarge)) await endWorker();
		// The next change finds a process that has started already.
		if (!signal.aborted) worker ??= startWorker();
		return true;
	}

	function ask(order: CatalogueOrder): Promise<CatalogueReport> {
		worker ??= startWorker();
		const asked = worker;
		return new Promise((resolve) => {
			const ended = (code: number | null, name: string | null) => {
				asked.off("message", take);
				resolve({ reason: `its process ended with ${name ?? code}` });
			};
			const take = (report: CatalogueReport) => {
				asked.off("exit", ended);
				resolve(report);
			};
			asked.once("message", take);
			asked.once("exit", ended);
			// A process that has just ended takes nothing any more; its end is the answer.
			asked.send(order, () => undefined);
		});
	}

	function startWorker(): ChildProcess {
		const started = startProcess(new URL("./catalogue-worker.ts", import.meta.url), niceness);
		started.once("exit", () => {
			if (worker === started) worker = null;
		});
		started.on("error", () => undefined);
		started.unref();
		started.channel?.unref();
		return started;
	}

	/** Ends the process after its update, or kills it where that takes too long. */
	async function endWorker(): Promise<void> {
		const ending = worker;
		worker = null;
		if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
		const ended = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
		ending.ref();
		if (ending.connected) ending.disconnect();
		const timer = setTimeout(() => ending.kill("SIGKILL"), endMs);
		await ended;
		clearTimeout(timer);
	}

	// Files may have been removed, or a sender may have another name.
	const check = () => {
		isDue = true;
		work();
	};
	const timer = setInterval(check, checkMs).unref();

	return {
		/** The branch has this commit now. */
		changed(commit: string): void {
			wanted = commit;
			commits += 1;
			work();
		},
		/** The commit that the files are of; null where that is not known. */
		get updatedTo(): string | null {
			return updatedTo;
		},
		/** Ends after a running update. */
		async close(): Promise<void> {
			closing.abort();
			clearInterval(timer);
			await Promise.all([endWorker(), working]);
		},
	};
}
