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
	/** Gets one warning when files cannot be written, and one when all are current again. */
	log: Log;
	times?: Partial<FolderTimes> | undefined;
}

/** Times in milliseconds. */
const ordinaryTimes = {
	/** How long a change waits for its files at most. */
	waitMs: 1_000,
	/** The first pause before files that could not be written are tried again, and the longest: each is twice the last. */
	retryMs: 500,
	maxRetryMs: 60_000,
};

export type FolderTimes = typeof ordinaryTimes;

/** Layers of a change up to which it waits for its files. */
const maxSmall = 1_000;
/** Layers that are written at once: a small change waits for them at most. */
const layersAtOnce = 100;

/**
 * The rendered files of all layers, which a thread writes after the table. They are derived: where they cannot be
 * written, reads from the table continue, and the writes are retried.
 */
export class FolderSink {
	readonly #options: FolderOptions;
	readonly #times: FolderTimes;
	readonly #thread: ReturnType<typeof openFolderThread>;
	/** Smallkeys of small changes, which wait for their files. */
	readonly #urgent = new Set<string>();
	/** Smallkeys of large changes and comparisons, and those whose files could not be written. */
	readonly #later = new Set<string>();
	/** Smallkeys whose files are being written. */
	#current: ReadonlySet<string> = new Set();
	/** Whether all files are to be compared with the table, or are being compared. */
	#comparison: "none" | "due" | "running" = "none";
	/** Whether the log gets the number of layers that a comparison writes again. */
	#reportsComparison = false;
	#compared = 0;
	#isLarge = false;
	/** Why files could not be written; null once all are current again. */
	#reason: string | null = null;
	#attempts = 0;
	/** The pause after a failure, in which only small changes are written. */
	#pause: NodeJS.Timeout | null = null;
	#working: Promise<void> | null = null;
	/** The end of the round that is being written. */
	#round: Promise<void> = Promise.resolve();
	#isClosing = false;

	constructor(options: FolderOptions) {
		this.#options = options;
		this.#times = { ...ordinaryTimes, ...options.times };
		this.#thread = openFolderThread(options.out, options.slots);
	}

	/** Why the files are not current, in one line; null where they are. */
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
	 * Writes the files of changed layers: of few before it answers, of many in the background.
	 * @returns what a publisher should know, after a second at most
	 */
	async changed(smallkeys: readonly string[]): Promise<string[]> {
		if (smallkeys.length === 0) return [];
		const isSmall = smallkeys.length <= maxSmall;
		if (!isSmall) this.#isLarge = true;
		const waiting = isSmall ? this.#urgent : this.#later;
		await eachInSlices(smallkeys, (smallkey) => waiting.add(smallkey));
		this.#work();
		if (!isSmall) return [];
		const waits = () => smallkeys.some((one) => this.#urgent.has(one) || this.#current.has(one));
		const written = async () => {
			while (waits()) await this.#round;
		};
		await Promise.race([written(), sleep(this.#times.waitMs, undefined, { ref: false })]);
		const isBehind = waits() || smallkeys.some((smallkey) => this.#later.has(smallkey));
		return isBehind ? ["the files of the web server in front are behind this registration for now"] : [];
	}

	/**
	 * Compares every file with the table, in the background: after an unexpected end.
	 * @param reports whether the log gets the number of layers whose files were written again
	 */
	compareAll(reports = false): void {
		this.#comparison = "due";
		this.#reportsComparison ||= reports;
		this.#work();
	}

	/** Whether there are so few files that they can be compared at every start. */
	get isSmall(): boolean {
		return this.#options.table.size <= maxSmall;
	}

	/** Whether as many files are there as the table has fragments. */
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

	/** Waits until nothing is being written; what could not be written is still behind. */
	async idle(): Promise<void> {
		while (this.#working) await this.#working;
	}

	/** Ends. @returns whether the files are current */
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

	/** The next round: small changes come first, except before the comparison of few files. Null: none is left. */
	#next(): (() => Promise<void>) | null {
		const isPaused = this.#isClosing || this.#pause !== null;
		const isFirst = this.#comparison === "none" || !this.isSmall || isPaused;
		if (this.#urgent.size > 0 && isFirst) return () => this.#write(take(this.#urgent));
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
		if (this.#comparison === "running") this.#compared += written;
		// With the folder its other files are gone, too.
		if (hasMadeFolder) this.#comparison = "due";
	}

	async #beginComparison(): Promise<void> {
		this.#comparison = "running";
		this.#compared = 0;
		this.#isLarge ||= !this.isSmall;
		// Before the thread has started: what changes meanwhile is not what was found different.
		await eachInSlices(this.#options.table.smallkeys(), (smallkey) => this.#later.add(smallkey));
		const { reason } = await this.#attempt(this.#thread.ask({ kind: "begin", isRead: true }));
		if (reason !== null) this.#comparison = "due";
	}

	async #endComparison(): Promise<void> {
		const { reason } = await this.#attempt(this.#thread.ask({ kind: "sweep" }));
		// It may be due again.
		if (this.#comparison === "running") this.#comparison = reason === null ? "none" : "due";
		if (reason !== null) return;
		if (this.#reportsComparison && this.#compared > 0) {
			const layers = counted(this.#compared, "layer");
			this.#options.log.warn(
				`the rendered files of ${layers} were missing or other ones, and are written again`,
			);
		}
		this.#reportsComparison = false;
	}

	/** What the thread reports. After a failure there is a pause. */
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

	/** Once nothing is being written: all is current, or what failed is retried after the pause. */
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

/** Takes the first of the layers that wait. */
function take(waiting: Set<string>): string[] {
	const taken: string[] = [];
	for (const smallkey of waiting) {
		if (taken.push(smallkey) === layersAtOnce) break;
	}
	for (const smallkey of taken) waiting.delete(smallkey);
	return taken;
}
