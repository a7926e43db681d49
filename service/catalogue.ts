import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { CatalogueOptions } from "../catalogue/options.ts";
import { startProcess } from "../publish/range.ts";
import type { Log } from "../store/log.ts";
import type { CatalogueOrder, CatalogueReport } from "./catalogue-worker.ts";

/** Times of the catalogue in milliseconds, and its memory. */
export interface CatalogueLimits {
	/** How long changes are collected before an update. */
	gatherMs: number;
	/** How often the files are checked. */
	checkMs: number;
	/** The first pause after a failure, and the longest: each is twice the last. */
	retryMs: number;
	maxRetryMs: number;
	/** How long an end waits for a running update. */
	endMs: number;
	/** Resident bytes of its process above which it is replaced at rest: only its end frees the memory. */
	maxIdleBytes: number;
}

const ordinaryLimits: CatalogueLimits = {
	gatherMs: 50,
	checkMs: 60_000,
	retryMs: 1_000,
	maxRetryMs: 60_000,
	endMs: 5_000,
	maxIdleBytes: 160e6,
};

export interface ServiceCatalogueOptions {
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
export class ServiceCatalogue {
	readonly #options: ServiceCatalogueOptions;
	readonly #limits: CatalogueLimits;
	#worker: ChildProcess | null = null;
	#wanted: string | null = null;
	#commits = 0;
	/** Whether an update is due although the commit is the same. */
	#isDue = false;
	#working: Promise<void> | null = null;
	#updatedTo: string | null = null;
	#reason: string | null = null;
	readonly #timer: NodeJS.Timeout;
	readonly #closing = new AbortController();

	constructor(options: ServiceCatalogueOptions) {
		this.#options = options;
		this.#limits = { ...ordinaryLimits, ...options.limits };
		// Files may have been removed, or a sender may have another name.
		const check = () => {
			this.#isDue = true;
			this.#work();
		};
		this.#timer = setInterval(check, this.#limits.checkMs).unref();
	}

	/** The branch has this commit now. */
	changed(commit: string): void {
		this.#wanted = commit;
		this.#commits += 1;
		this.#work();
	}

	/** The commit that the files are of; null where that is not known. */
	get updatedTo(): string | null {
		return this.#updatedTo;
	}

	/** Ends after a running update. */
	async close(): Promise<void> {
		this.#closing.abort();
		clearInterval(this.#timer);
		await Promise.all([this.#endWorker(), this.#working]);
	}

	#work(): void {
		if (this.#closing.signal.aborted) return;
		this.#working ??= this.#rounds().finally(() => {
			this.#working = null;
		});
	}

	async #rounds(): Promise<void> {
		const { signal } = this.#closing;
		const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
		const { gatherMs, retryMs, maxRetryMs } = this.#limits;
		for (let failures = 0; this.#wanted !== null && (this.#wanted !== this.#updatedTo || this.#isDue); ) {
			await pause(gatherMs);
			if (signal.aborted) return;
			const start = performance.now();
			const isDone = await this.#round(this.#wanted);
			failures = isDone ? 0 : failures + 1;
			// Leaves the processor to others for a while, the longer the more there was to do.
			const restMs = (performance.now() - start) * pausesPerUpdate;
			const longestMs = this.#commits <= fewCommits ? maxPauseMs.few : maxPauseMs.many;
			if (isDone) await pause(Math.min(restMs, longestMs));
			else await pause(Math.min(retryMs * 2 ** (failures - 1), maxRetryMs));
		}
	}

	/** Updates the catalogue to a commit; false where that failed. */
	async #round(commit: string): Promise<boolean> {
		const { repository, out, options } = this.#options;
		this.#commits = 0;
		this.#isDue = false;
		const report = await this.#ask({ repository, commit, out, options: options() });
		if ("reason" in report) {
			this.#updatedTo = null;
			if (this.#reason === null && !this.#closing.signal.aborted)
				this.#options.log.warn(`the catalogue cannot be updated: ${report.reason}`);
			this.#reason = report.reason;
			return false;
		}
		if (this.#reason !== null) this.#options.log.warn("the catalogue is current again");
		this.#reason = null;
		this.#updatedTo = commit;
		// While many publish, the next update would wait for a process that starts.
		const isIdle = this.#commits === 0;
		const isLarge = report.residentBytes > this.#limits.maxIdleBytes;
		if (report.outcome.how === "all" || (isIdle && isLarge)) await this.#endWorker();
		// The next change finds a process that has started already.
		if (!this.#closing.signal.aborted) this.#worker ??= this.#startWorker();
		return true;
	}

	#ask(order: CatalogueOrder): Promise<CatalogueReport> {
		this.#worker ??= this.#startWorker();
		const worker = this.#worker;
		return new Promise((resolve) => {
			const ended = (code: number | null, signal: string | null) => {
				worker.off("message", take);
				resolve({ reason: `its process ended with ${signal ?? code}` });
			};
			const take = (report: CatalogueReport) => {
				worker.off("exit", ended);
				resolve(report);
			};
			worker.once("message", take);
			worker.once("exit", ended);
			// A process that has just ended takes nothing any more; its end is the answer.
			worker.send(order, () => undefined);
		});
	}

	#startWorker(): ChildProcess {
		const worker = startProcess(new URL("./catalogue-worker.ts", import.meta.url), niceness);
		worker.once("exit", () => {
			if (this.#worker === worker) this.#worker = null;
		});
		worker.on("error", () => undefined);
		worker.unref();
		worker.channel?.unref();
		return worker;
	}

	/** Ends the process after its update, or kills it where that takes too long. */
	async #endWorker(): Promise<void> {
		const worker = this.#worker;
		this.#worker = null;
		if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
		const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
		worker.ref();
		if (worker.connected) worker.disconnect();
		const timer = setTimeout(() => worker.kill("SIGKILL"), this.#limits.endMs);
		await ended;
		clearTimeout(timer);
	}
}
