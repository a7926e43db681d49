import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { lowerPriority } from "../../store/git/commands/run.ts";
import type { Log } from "../../store/log.ts";
import type { CatalogueOptions } from "../data/options.ts";
import type { CatalogueOrder, CatalogueReport } from "./catalogue-worker.ts";

/** The catalogue's times in milliseconds, and the limit of its memory. */
const defaultLimits = {
	/** How long changes are collected before an update. */
	collectMs: 50,
	/** With many commits, the next update waits until none has arrived for this time, and at most for the second one. */
	quietMs: 1_000,
	maxQuietMs: 30_000,
	/** How often the files are checked. */
	checkMs: 60_000,
	/** The first and the longest pause after a failure. Each pause is twice the one before. */
	retryMs: 1_000,
	maxRetryMs: 60_000,
	/** How long `endWorker` waits for a running update. */
	endMs: 5_000,
	/** Resident bytes above which an idle worker process is replaced: only the end of a process frees its memory. */
	maxIdleBytes: 160e6,
};

interface ServiceCatalogueOptions {
	repository: string;
	out: string;
	/** The module of the process that writes the files: it calls `serveOrders`. */
	worker: URL;
	/** Called for each update: the senders may have changed. */
	options: () => CatalogueOptions;
	/** Gets one warning when the catalogue cannot be written, and another when it is current again. */
	log: Log;
	limits?: Partial<typeof defaultLimits> | undefined;
}

/** The process has a lower priority than the one that answers readers and publishers. */
const niceness = 10;
/** If at most so many commits arrive during an update and the pause after it, the next update follows. */
const fewCommits = 10;
/** The pause after an update, as a multiple of its duration, and the longest one in milliseconds. */
const pausesPerUpdate = 3;
const maxPauseMs = 300;

/**
 * Opens the catalogue of a running service: a process of its own updates it to the branch. The catalogue is derived data:
 * if an update fails, reads and writes of layers continue, and the update is retried.
 */
export function openCatalogue({
	repository,
	out,
	worker: module,
	options,
	log,
	limits = {},
}: ServiceCatalogueOptions) {
	const { collectMs, quietMs, maxQuietMs, checkMs, retryMs, ...more } = { ...defaultLimits, ...limits };
	const { maxRetryMs, endMs, maxIdleBytes } = more;
	const closing = new AbortController();
	const { signal } = closing;
	let worker: ChildProcess | null = null;
	let wanted: string | null = null;
	/** Number of commits since the last update began. */
	let commits = 0;
	let updatedTo: string | null = null;
	/** Why the last update failed. */
	let failure: string | null = null;
	let working: Promise<void> | null = null;

	function work(): void {
		if (signal.aborted) return;
		working ??= runRounds()
			.catch(log.error)
			.finally(() => {
				working = null;
			});
	}

	async function runRounds(): Promise<void> {
		for (let failures = 0; wanted !== null && wanted !== updatedTo; ) {
			await pause(collectMs);
			if (signal.aborted) return;
			const start = performance.now();
			const isDone = await update(wanted);
			failures = isDone ? 0 : failures + 1;
			// A pause in proportion to the duration of the update leaves the processor to other work.
			const restMs = Math.min((performance.now() - start) * pausesPerUpdate, maxPauseMs);
			await pause(isDone ? restMs : Math.min(retryMs * 2 ** (failures - 1), maxRetryMs));
			if (isDone && commits > fewCommits) await untilQuiet();
		}
	}

	/** Waits while commits keep arriving: an update of many takes hardly longer than one of a few. */
	async function untilQuiet(): Promise<void> {
		const untilMs = performance.now() + maxQuietMs;
		for (let known = -1; known !== commits && performance.now() < untilMs && !signal.aborted; ) {
			known = commits;
			await pause(quietMs);
		}
	}

	async function pause(ms: number): Promise<void> {
		await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
	}

	/** Updates the catalogue to a commit. @returns whether that succeeded */
	async function update(commit: string): Promise<boolean> {
		commits = 0;
		const order = { repository, commit, out, options: options() };
		const report = await ask(order).catch(({ message }: Error) => ({ reason: message }));
		if ("reason" in report) {
			updatedTo = null;
			if (failure === null && !signal.aborted) log.warn(`the catalogue cannot be updated: ${report.reason}`);
			failure = report.reason;
			return false;
		}
		if (failure !== null) log.warn("the catalogue is current again");
		failure = null;
		updatedTo = commit;
		// Not if commits are waiting: their update would have to wait until a new process has started.
		const isIdle = commits === 0;
		const isLarge = report.residentBytes > maxIdleBytes;
		if (report.outcome.how === "all" || (isIdle && isLarge)) await endWorker();
		// Started in advance, so that the next update need not wait for it.
		if (!signal.aborted) worker ??= startWorker();
		return true;
	}

	/** @throws {Error} if the process cannot be started, or ends without an answer */
	async function ask(order: CatalogueOrder): Promise<CatalogueReport> {
		worker ??= startWorker();
		const asked = worker;
		const over = new AbortController();
		// Both reject if the process cannot be started: then there is an `error` event, and no `exit`.
		const answered = once(asked, "message", over);
		const ended = once(asked, "exit", over).then(([code, name]) => {
			throw new Error(`its process ended with ${name ?? code}`);
		});
		// Without a channel the process has not started, or has ended: an event follows, as when `send` fails.
		if (asked.connected) asked.send(order, () => undefined);
		const [report] = await Promise.race([answered, ended]).finally(() => over.abort());
		return report;
	}

	function startWorker(): ChildProcess {
		const started = fork(module, {
			execArgv: ["--optimize-for-size", "--import", import.meta.resolve("tsx")],
			serialization: "advanced",
			// This process's environment is not inherited: it holds secrets.
			env: { PATH: process.env.PATH },
		});
		if (started.pid !== undefined) lowerPriority(started.pid, niceness);
		const forget = () => {
			if (worker === started) worker = null;
		};
		started.once("exit", forget).on("error", forget);
		started.unref();
		started.channel?.unref();
		return started;
	}

	/** Ends the process after its running update, or kills it after `endMs`. */
	async function endWorker(): Promise<void> {
		const ending = worker;
		worker = null;
		if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
		ending.ref();
		if (ending.connected) ending.disconnect();
		const timer = setTimeout(() => ending.kill("SIGKILL"), endMs);
		await once(ending, "exit");
		clearTimeout(timer);
	}

	const timer = setInterval(() => {
		// Someone may have removed files, or the name of a sender may have changed.
		updatedTo = null;
		work();
	}, checkMs).unref();

	return {
		/** Orders an update to this commit of the branch. */
		changed(commit: string): void {
			wanted = commit;
			commits += 1;
			work();
		},
		/** The commit that the catalogue's files show; null if that is not known. */
		get updatedTo(): string | null {
			return updatedTo;
		},
		/** Waits for a running update, and ends the process. */
		async close(): Promise<void> {
			closing.abort();
			clearInterval(timer);
			await Promise.all([endWorker(), working]);
		},
	};
}
