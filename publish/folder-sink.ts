import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../store/log.ts";
import { counted } from "../terminal/plain.ts";
import { bodyOf } from "./entry.ts";
import type { Report } from "./folder-thread.mjs";
import { openFolderThread } from "./folder-thread.ts";
import { isCompanion } from "./place-file.mjs";
import { eachInSlices } from "./slices.ts";
import { type Slot, slotFolder } from "./slots.ts";
import type { Table } from "./table.ts";

export interface FolderOptions {
	/** The folder of rendered files, for a web server in front. */
	out: string;
	slots: readonly Slot[];
	table: Table;
	/** Gets one warning when files cannot be written, and another when all files are current again. */
	log: Log;
	times?: Partial<FolderTimes> | undefined;
}

/** Times in milliseconds. */
const defaultTimes = {
	/** The longest time that a change waits for its files. */
	waitMs: 1_000,
	/** The first and the longest pause before a failed write is retried. Each pause is twice the one before. */
	retryMs: 500,
	maxRetryMs: 60_000,
};

export type FolderTimes = typeof defaultTimes;

/** A change of at most so many layers waits for its files. */
const maxSmall = 1_000;
/** Layers that are written in one round. A small change waits for at most one round of a large one. */
const layersAtOnce = 100;

/**
 * Keeps the rendered files of all layers current with the table; a thread writes them. The files are derived data: if
 * they cannot be written, reads from the table continue, and the writes are retried.
 */
export class FolderSink {
	readonly #options: FolderOptions;
	readonly #times: FolderTimes;
	readonly #thread: ReturnType<typeof openFolderThread>;
	/** Smallkeys of small changes, which wait for their files. */
	readonly #urgent = new Set<string>();
	/** Smallkeys of large changes and of comparisons, and smallkeys whose files could not be written. */
	readonly #later = new Set<string>();
	/** Smallkeys whose files are being written. */
	#current: ReadonlySet<string> = new Set();
	/** Whether a comparison of all files with the table is due or running. */
	#comparison: "none" | "due" | "running" = "none";
	/** Whether the log gets the number of layers that a comparison rewrites. */
	#reportsComparison = false;
	#rewritten = 0;
	#isLarge = false;
	/** Why files could not be written; null once all files are current again. */
	#reason: string | null = null;
	#attempts = 0;
	/** The pause after a failure; only small changes are written during it. */
	#pause: NodeJS.Timeout | null = null;
	#working: Promise<void> | null = null;
	/** Settles when the round that is being written ends. */
	#round: Promise<void> = Promise.resolve();
	#isClosing = false;

	constructor(options: FolderOptions) {
		this.#options = options;
		this.#times = { ...defaultTimes, ...options.times };
		this.#thread = openFolderThread(options.out, options.slots);
	}

	/** Why the files are not current, in one line; null if they are current. */
	state(): string | null {
		if (this.#reason !== null)
			return `the rendered files of ${counted(this.behind, "layer")} are behind: ${this.#reason}`;
		return this.#isLarge ? "the rendered files of a large change are being written" : null;
	}

	/** How many layers have files that wait to be written. */
	get behind(): number {
		return new Set([...this.#urgent, ...this.#later, ...this.#current]).size;
	}

	/**
	 * Writes the files of changed layers. Waits for the files of a small change; writes a large one in the background.
	 * @returns warnings for the publisher, after at most `waitMs`
	 */
	async changed(smallkeys: readonly string[]): Promise<string[]> {
		if (smallkeys.length === 0) return [];
		const isSmall = smallkeys.length <= maxSmall;
		if (!isSmall) this.#isLarge = true;
		const waiting = isSmall ? this.#urgent : this.#later;
		await eachInSlices(smallkeys, (smallkey) => waiting.add(smallkey));
		this.#work();
		if (!isSmall) return [];
		const isWaiting = () => smallkeys.some((key) => this.#urgent.has(key) || this.#current.has(key));
		const written = async () => {
			while (isWaiting()) await this.#round;
		};
		await Promise.race([written(), sleep(this.#times.waitMs, undefined, { ref: false })]);
		const isBehind = isWaiting() || smallkeys.some((smallkey) => this.#later.has(smallkey));
		return isBehind ? ["the files of the web server in front are behind this registration for now"] : [];
	}

	/**
	 * Compares every file with the table, in the background. Needed after a process ended unexpectedly.
	 * @param reports whether the log gets the number of layers whose files were rewritten
	 */
	compareAll(reports = false): void {
		this.#comparison = "due";
		this.#reportsComparison ||= reports;
		this.#work();
	}

	/** Whether there are so few layers that their files can be compared at every start. */
	get isSmall(): boolean {
		return this.#options.table.size <= maxSmall;
	}

	/** Whether the folder has as many files as the table has fragments. */
	async isComplete(): Promise<boolean> {
		const { out, slots, table } = this.#options;
		const expected = slots.map(() => 0);
		for (const entry of table.entries.values()) {
			for (const slot of slots.keys()) if (bodyOf(entry, slot)) (expected[slot] as number) += 1;
		}
		const folders = slots.map((slot) => readdir(join(out, slotFolder(slot))).catch(() => []));
		const found = await Promise.all(folders);
		return found.every((names, slot) => names.filter((name) => !isCompanion(name)).length === expected[slot]);
	}

	/** Waits until nothing is being written. Files that could not be written are still behind then. */
	async idle(): Promise<void> {
		while (this.#working) await this.#working;
	}

	/** Waits for the current writes and stops the thread. @returns whether the files are current */
	async close(): Promise<boolean> {
		this.#isClosing = true;
		if (this.#pause) clearTimeout(this.#pause);
		await this.idle();
		await this.#thread.close();
		return this.#comparison === "none" && this.behind === 0;
	}

	#work(): void {
		this.#working ??= this.#rounds().finally(() => {
			this.#working = null;
			this.#settle();
		});
	}

	async #rounds(): Promise<void> {
		for (let next = this.#next(); next; next = this.#next()) {
			this.#round = next();
			await this.#round;
		}
	}

	/** The next round: small changes come first, but a comparison of few files precedes them. Null: no round is left. */
	#next(): (() => Promise<void>) | null {
		const isPaused = this.#isClosing || this.#pause !== null;
		const isUrgentFirst = this.#comparison === "none" || !this.isSmall || isPaused;
		if (this.#urgent.size > 0 && isUrgentFirst) return () => this.#write(take(this.#urgent));
		if (isPaused) return null;
		if (this.#comparison === "due") return () => this.#beginComparison();
		if (this.#later.size > 0) return () => this.#write(take(this.#later));
		return this.#comparison === "running" ? () => this.#endComparison() : null;
	}

	async #write(smallkeys: readonly string[]): Promise<void> {
		this.#current = new Set(smallkeys);
		for (const smallkey of smallkeys) this.#later.delete(smallkey);
		const { entries } = this.#options.table;
		const layers = smallkeys.map((smallkey) => [smallkey, entries.get(smallkey) ?? null] as const);
		const { failed, written, hasMadeFolder } = await this.#attempt(this.#thread.write(layers));
		this.#current = new Set();
		for (const smallkey of failed) this.#later.add(smallkey);
		if (this.#comparison === "running") this.#rewritten += written;
		// The folder was missing, so its other files are missing, too.
		if (hasMadeFolder) this.#comparison = "due";
	}

	async #beginComparison(): Promise<void> {
		this.#comparison = "running";
		this.#rewritten = 0;
		this.#isLarge ||= !this.isSmall;
		// Before the thread begins: a change that arrives meanwhile is not part of the comparison.
		await eachInSlices(this.#options.table.smallkeys(), (smallkey) => this.#later.add(smallkey));
		const { reason } = await this.#attempt(this.#thread.ask({ kind: "begin", isRead: true }));
		if (reason !== null) this.#comparison = "due";
	}

	async #endComparison(): Promise<void> {
		const { reason } = await this.#attempt(this.#thread.ask({ kind: "sweep" }));
		// A write may have made another comparison due.
		if (this.#comparison === "running") this.#comparison = reason === null ? "none" : "due";
		if (reason !== null) return;
		if (this.#reportsComparison && this.#rewritten > 0) {
			const layers = counted(this.#rewritten, "layer");
			this.#options.log.warn(
				`the rendered files of ${layers} were missing or other ones, and are written again`,
			);
		}
		this.#reportsComparison = false;
	}

	/** Waits for the thread's report. A failure starts the pause before the next retry. */
	async #attempt(task: Promise<Report>): Promise<Report> {
		const report = await task;
		if (report.reason === null) return report;
		if (this.#reason === null)
			this.#options.log.warn(`the rendered files cannot be written: ${report.reason}`);
		this.#reason = report.reason;
		if (this.#pause || this.#isClosing) return report;
		const { retryMs, maxRetryMs } = this.#times;
		const retry = () => {
			this.#pause = null;
			this.#work();
		};
		this.#pause = setTimeout(retry, Math.min(retryMs * 2 ** this.#attempts, maxRetryMs)).unref();
		this.#attempts += 1;
		return report;
	}

	/** Called once nothing is being written: all files are current, or the pause before a retry is running. */
	#settle(): void {
		if (this.#isClosing) return;
		if (this.#next()) return this.#work();
		this.#isLarge = false;
		if (this.#pause) return;
		if (this.#reason !== null) this.#options.log.warn("the rendered files are current again");
		this.#reason = null;
		this.#attempts = 0;
	}
}

/** Removes and returns the first waiting smallkeys, at most one round of them. */
function take(waiting: Set<string>): string[] {
	const taken: string[] = [];
	for (const smallkey of waiting) {
		if (taken.push(smallkey) === layersAtOnce) break;
	}
	for (const smallkey of taken) waiting.delete(smallkey);
	return taken;
}
