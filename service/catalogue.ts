import { type ChildProcess, fork } from "node:child_process";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { CatalogueOptions } from "../catalogue/options.ts";
import type { Log } from "../store/log.ts";
import type { CatalogueOrder, CatalogueReport } from "./catalogue-worker.ts";

/** Times of the catalogue in milliseconds, and its memory. */
export interface CatalogueLimits {
	/** How long changes are gathered before they are looked at. */
	gatherMs: number;
	/** How often it is looked whether all files are still there. */
	checkMs: number;
	/** The first pause after a failure, and the longest: each is twice the last. */
	retryMs: number;
	maxRetryMs: number;
	/** How long an end waits for what is being written. */
	endMs: number;
	/** Resident bytes of its process above which, at rest, another one takes its place: memory is given back only with an end. */
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

/** What the catalogue of a running service needs from outside. */
export interface ServiceCatalogueOptions {
	repository: string;
	/** The folder of rendered files, in which it stands beside the fragments. */
	out: string;
	/** How it is made, asked each time: senders come and go. */
	options: () => CatalogueOptions;
	/** Gets one warning when it cannot be written, and one when it is current again. */
	log: Log;
	limits?: Partial<CatalogueLimits> | undefined;
}

/** Readers and publishers come first: the process is nicer than the one that answers. */
const niceness = 10;
/** Commits between two looks up to which the next look follows soon: more are many publishers at work. */
const fewCommits = 10;
/** Share of one processor that the catalogue of a busy service takes at most: a look, then three times as long nothing. */
const pausesPerLook = 3;
/** The longest pause between two looks, for few commits and for many, in milliseconds. */
const maxPauseMs = { few: 300, many: 60_000 };

/**
 * The catalogue of a running service, brought in step with its branch by a process of its own. It is derived: whatever
 * happens to it, reads and writes of layers go on, and it is tried again.
 */
export class ServiceCatalogue {
	readonly #options: ServiceCatalogueOptions;
	readonly #limits: CatalogueLimits;
	#worker: ChildProcess | null = null;
	#wanted: string | null = null;
	#commits = 0;
	/** Whether it is looked at although it may be in step. */
	#isDue = false;
	#working: Promise<void> | null = null;
	#inStep: string | null = null;
	#reason: string | null = null;
	readonly #timer: NodeJS.Timeout;
	readonly #closing = new AbortController();

	constructor(options: ServiceCatalogueOptions) {
		this.#options = options;
		this.#limits = { ...ordinaryLimits, ...options.limits };
		this.#timer = setInterval(() => this.#check(), this.#limits.checkMs).unref();
	}

	/** The branch has this commit now. */
	changed(commit: string): void {
		this.#wanted = commit;
		this.#commits += 1;
		this.#work();
	}

	/** The commit that the files are in step with; null where that is not known. */
	get inStep(): string | null {
		return this.#inStep;
	}

	/** Ends, once what is being written is whole. */
	async close(): Promise<void> {
		this.#closing.abort();
		clearInterval(this.#timer);
		await Promise.all([this.#endWorker(), this.#working]);
	}

	/** Somebody may have removed files, or a sender may have another name. */
	#check(): void {
		this.#isDue = true;
		this.#work();
	}

	#work(): void {
		if (this.#closing.signal.aborted) return;
		this.#working ??= this.#rounds().finally(() => {
			this.#working = null;
		});
	}

	async #rounds(): Promise<void> {
		for (let failures = 0; this.#wanted !== null && (this.#wanted !== this.#inStep || this.#isDue); ) {
			await this.#pause(this.#limits.gatherMs);
			if (this.#closing.signal.aborted) return;
			const start = performance.now();
			const isDone = await this.#round(this.#wanted);
			if (this.#closing.signal.aborted) return;
			failures = isDone ? 0 : failures + 1;
			const { retryMs, maxRetryMs } = this.#limits;
			if (isDone) await this.#rest(performance.now() - start);
			else await this.#pause(Math.min(retryMs * 2 ** (failures - 1), maxRetryMs));
		}
	}

	/** Leaves the processor to others for a while, the longer the more there is to do. */
	async #rest(lookedMs: number): Promise<void> {
		const longest = this.#commits <= fewCommits ? maxPauseMs.few : maxPauseMs.many;
		await this.#pause(Math.min(lookedMs * pausesPerLook, longest));
	}

	async #pause(timeMs: number): Promise<void> {
		await sleep(timeMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
	}

	/** Brings the catalogue in step with a commit; false where it could not be. */
	async #round(commit: string): Promise<boolean> {
		const { repository, out, options } = this.#options;
		this.#commits = 0;
		this.#isDue = false;
		const report = await this.#ask({ repository, commit, out, options: options() });
		if ("reason" in report) {
			this.#inStep = null;
			if (!this.#closing.signal.aborted) this.#fail(report.reason);
			return false;
		}
		if (this.#reason !== null) this.#options.log.warn("the catalogue is in step again");
		this.#reason = null;
		this.#inStep = commit;
		// While many publish, the next look would wait for a process that starts.
		const isIdle = this.#commits === 0;
		const isLarge = report.residentBytes > this.#limits.maxIdleBytes;
		if (report.outcome.how === "all" || (isIdle && isLarge)) await this.#endWorker();
		// The next change finds a process that has started already.
		if (!this.#closing.signal.aborted) this.#worker ??= this.#startWorker();
		return true;
	}

	#fail(reason: string): void {
		if (this.#reason === null) this.#options.log.warn(`the catalogue cannot be brought in step: ${reason}`);
		this.#reason = reason;
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
		const worker = fork(new URL("./catalogue-worker.ts", import.meta.url), {
			execArgv: ["--import", import.meta.resolve("tsx")],
			// Nothing of this process's configuration: it holds secrets.
			env: { PATH: process.env.PATH },
		});
		worker.once("exit", () => {
			if (this.#worker === worker) this.#worker = null;
		});
		worker.on("error", () => undefined);
		if (worker.pid !== undefined) setPriority(worker.pid, niceness);
		worker.unref();
		worker.channel?.unref();
		return worker;
	}

	/** Lets the process end what it writes, and ends it where that takes too long. */
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
