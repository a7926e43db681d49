import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../store/log.ts";
import { counted } from "../terminal/plain.ts";
import { bodyOf } from "./entry.ts";
import type { Report } from "./folder-thread.mjs";
import { FolderThread } from "./folder-thread.ts";
import { isCompanion } from "./place-file.mjs";
import { Slices } from "./slices.ts";
import { type Slot, slotFolder } from "./slots.ts";
import type { Table } from "./table.ts";

export interface FolderOptions {
	/** The folder of rendered files, for a web server in front. */
	out: string;
	slots: readonly Slot[];
	/** What the files are made of. */
	table: Table;
	/** Gets one warning when files cannot be written, and one when all are current again. */
	log: Log;
	times?: Partial<FolderTimes> | undefined;
}

/** Times in milliseconds. */
export interface FolderTimes {
	/** How long a change waits for its files at most. */
	waitMs: number;
	/** The first pause before files that could not be written are tried again, and the longest: each is twice the last. */
	retryMs: number;
	maxRetryMs: number;
}

const ordinaryTimes: FolderTimes = { waitMs: 1_000, retryMs: 500, maxRetryMs: 60_000 };

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
	readonly #thread: FolderThread;
	/** Smallkeys of small changes, which wait for their files. */
	readonly #urgent = new Set<string>();
	/** Smallkeys of large changes and comparisons. */
	readonly #later = new Set<string>();
	/** Smallkeys whose files are being written. */
	#current: ReadonlySet<string> = new Set();
	/** Smallkeys whose files could not be written, and why. */
	readonly #failed = new Set<string>();
	#reason: string | null = null;
	/** Whether all files are to be compared with the table, are being compared, or could not be. */
	#comparison: "none" | "due" | "running" | "failed" = "none";
	/** Whether the log gets the number of layers that a comparison writes again. */
	#reportsComparison = false;
	#compared = 0;
	#isLarge = false;
	#working: Promise<void> | null = null;
	/** The end of the round that is being written. */
	#round: Promise<void> = Promise.resolve();
	#timer: NodeJS.Timeout | null = null;
	#attempts = 0;
	#isClosing = false;

	constructor(options: FolderOptions) {
		this.#options = options;
		this.#times = { ...ordinaryTimes, ...options.times };
		this.#thread = new FolderThread(options.out, options.slots);
	}

	/** Why the files are not current, in one line; null where they are. */
	state(): string | null {
		if (this.#reason !== null)
			return `the rendered files of ${counted(this.behind, "layer")} are behind: ${this.#reason}`;
		return this.#isLarge ? "the rendered files of a large change are being written" : null;
	}

	/** How many layers have files that wait to be written. */
	get behind(): number {
		return new Set([...this.#urgent, ...this.#later, ...this.#current, ...this.#failed]).size;
	}

	/**
	 * Writes the files of changed layers: of few before it answers, of many in the background.
	 * @returns what a publisher should know, after a second at most
	 */
	async changed(smallkeys: readonly string[]): Promise<string[]> {
		if (smallkeys.length === 0) return [];
		const isSmall = smallkeys.length <= maxSmall;
		if (!isSmall) this.#isLarge = true;
		await addAll(isSmall ? this.#urgent : this.#later, smallkeys);
		this.#work();
		if (!isSmall) return [];
		await Promise.race([this.#written(smallkeys), sleep(this.#times.waitMs, undefined, { ref: false })]);
		const isBehind = smallkeys.some((smallkey) => this.#waits(smallkey) || this.#failed.has(smallkey));
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
		for (const [, entry] of table.entries()) {
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
		if (this.#timer) clearTimeout(this.#timer);
		await this.idle();
		await this.#thread.close();
		return this.#comparison === "none" && this.behind === 0;
	}

	#waits(smallkey: string): boolean {
		return this.#urgent.has(smallkey) || this.#current.has(smallkey);
	}

	async #written(smallkeys: readonly string[]): Promise<void> {
		while (smallkeys.some((smallkey) => this.#waits(smallkey))) await this.#round;
	}

	#work(): void {
		this.#working ??= this.#rounds().finally(() => {
			this.#working = null;
			this.#settle();
		});
	}

	async #rounds(): Promise<void> {
		for (let round = this.#next(); round; round = this.#next()) {
			this.#round = round;
			await round;
		}
	}

	/** Begins the next round: small changes come first, except before the comparison of few files. Null: none is left. */
	#next(): Promise<void> | null {
		const isComparing = this.#comparison === "due" || this.#comparison === "running";
		const isFirst = !isComparing || !this.isSmall || this.#isClosing;
		if (this.#urgent.size > 0 && isFirst) return this.#write(take(this.#urgent));
		if (this.#isClosing) return null;
		if (this.#comparison === "due") return this.#beginComparison();
		if (this.#later.size > 0) return this.#write(take(this.#later));
		return this.#comparison === "running" ? this.#endComparison() : null;
	}

	async #write(smallkeys: readonly string[]): Promise<void> {
		const { slots, table } = this.#options;
		this.#current = new Set(smallkeys);
		const report = await this.#attempt(() =>
			this.#thread.write(
				smallkeys.map((smallkey) => {
					const entry = table.entry(smallkey);
					return [smallkey, slots.map((_, slot) => (entry ? bodyOf(entry, slot) : null))];
				}),
			),
		);
		this.#current = new Set();
		for (const smallkey of smallkeys) this.#failed.delete(smallkey);
		for (const smallkey of report?.failed ?? smallkeys) this.#failed.add(smallkey);
		if (this.#comparison === "running") this.#compared += report?.written ?? 0;
		// With the folder its other files are gone, too.
		if (report?.hasMadeFolder) this.#comparison = "due";
	}

	async #beginComparison(): Promise<void> {
		const { table } = this.#options;
		this.#comparison = "running";
		this.#compared = 0;
		this.#isLarge ||= !this.isSmall;
		// Before the thread has started: what changes meanwhile is not what was found different.
		await addAll(this.#later, table.smallkeys());
		const report = await this.#attempt(() => this.#thread.ask({ kind: "begin", isRead: true }));
		if (report?.reason !== null) this.#comparison = "failed";
	}

	async #endComparison(): Promise<void> {
		const report = await this.#attempt(() => this.#thread.ask({ kind: "sweep" }));
		if (report?.reason !== null) {
			this.#comparison = "failed";
			return;
		}
		// It may be due again.
		if (this.#comparison === "running") this.#comparison = "none";
		if (this.#reportsComparison && this.#compared > 0) {
			const layers = counted(this.#compared, "layer");
			this.#options.log.warn(
				`the rendered files of ${layers} were missing or other ones, and are written again`,
			);
		}
		this.#reportsComparison = false;
	}

	/** What the thread reports; null where it has ended. */
	async #attempt(order: () => Promise<Report>): Promise<Report | null> {
		const report = await order().catch((error: Error) => error);
		const reason = report instanceof Error ? report.message : report.reason;
		if (reason !== null && this.#reason === null)
			this.#options.log.warn(`the rendered files cannot be written: ${reason}`);
		this.#reason = reason ?? this.#reason;
		return report instanceof Error ? null : report;
	}

	/** Once nothing is being written: all is current, or what failed is retried after a pause. */
	#settle(): void {
		if (this.#isClosing) return;
		if (this.#urgent.size > 0 || this.#later.size > 0 || this.#comparison === "due") return this.#work();
		this.#isLarge = false;
		if (this.#failed.size === 0 && this.#comparison === "none") {
			if (this.#reason !== null) this.#options.log.warn("the rendered files are current again");
			this.#reason = null;
			this.#attempts = 0;
			return;
		}
		const { retryMs, maxRetryMs } = this.#times;
		const pauseMs = Math.min(retryMs * 2 ** this.#attempts, maxRetryMs);
		this.#attempts += 1;
		if (this.#timer) clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#retry(), pauseMs).unref();
	}

	#retry(): void {
		if (this.#comparison === "failed") this.#comparison = "due";
		for (const smallkey of this.#failed) this.#later.add(smallkey);
		this.#work();
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

async function addAll(waiting: Set<string>, smallkeys: Iterable<string>): Promise<void> {
	const slices = new Slices();
	for (const smallkey of smallkeys) {
		waiting.add(smallkey);
		await slices.pause();
	}
}
