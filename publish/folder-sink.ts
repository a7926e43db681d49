import { setTimeout as sleep } from "node:timers/promises";
import { counted } from "../registry/plain.ts";
import { type Problem, problemAt } from "../registry/texts.ts";
import type { Log } from "../store/log.ts";
import { openFolder } from "./folder.ts";
import { bodyOf, type RenderedLayer, type Slot } from "./rendered.ts";
import { eachInSlices } from "./slices.ts";
import type { Table } from "./table.ts";

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
/** While more layers than this are being written, the disk hangs, or nearly so: further small changes do not wait. */
const maxWriting = 10_000;
/** Layers that are written in one round. A small change waits for at most one round of a large one. */
const layersAtOnce = 100;

/**
 * Keeps the rendered files of all layers current with the table; a thread writes them. The files are derived data: if
 * they cannot be written, reads from the table continue, and the writes are retried.
 */
export function openFolderSink(options: {
	/** The folder of rendered files, for a web server in front. */
	out: string;
	slots: readonly Slot[];
	table: Table;
	/** Gets one warning when files cannot be written, and another when all files are current again. */
	log: Log;
	times?: Partial<FolderTimes> | undefined;
}) {
	const { out, slots, table, log } = options;
	const { waitMs, retryMs, maxRetryMs } = { ...defaultTimes, ...options.times };
	const folder = openFolder(out, slots);
	/** Smallkeys of large changes and of checks, and smallkeys whose files could not be written. */
	const later = new Set<string>();
	/** How many layers the thread is writing. */
	let writing = 0;
	/** A check that is due: it looks for files that are missing or too many, or compares every file. */
	let check: "none" | "number" | "all" = "none";
	/** How many layers a check has rewritten; null if the log does not get this number once all files are current. */
	let rewritten: number | null = null;
	let isLarge = false;
	/** Why files could not be written; null once all files are current again. */
	let reason: string | null = null;
	let attempts = 0;
	/** The pause after a failure; only small changes are written during it. */
	let pause: NodeJS.Timeout | null = null;
	/** The round that runs in the background: a part of `later`, or a check. */
	let working: Promise<void> | null = null;
	let isClosing = false;

	/**
	 * Writes the files of changed layers. Waits for the files of a small change; writes a large one in the background.
	 * @returns warnings for the publisher, after at most `waitMs`
	 */
	async function changed(smallkeys: readonly string[]): Promise<Problem[]> {
		if (smallkeys.length > maxSmall) {
			// The number would have the layers of this change, too.
			rewritten = null;
			isLarge = true;
			await eachInSlices(smallkeys, (smallkey) => later.add(smallkey));
			work();
			return [];
		}
		const behind = [problemAt("", "files-behind")];
		if (writing > maxWriting) {
			// A set takes no more memory than the layers, however often they change.
			for (const smallkey of smallkeys) later.add(smallkey);
			return behind;
		}
		const report = await Promise.race([write(smallkeys), sleep(waitMs, null, { ref: false })]);
		return report === null || report.failed.length > 0 ? behind : [];
	}

	/**
	 * Checks the files, in the background, and removes those of layers that are not served.
	 * @param wasClosed whether the last process closed normally: then only the number of each layer's files is checked,
	 * unless there are few layers
	 * @param reports whether the log gets the number of layers whose files were rewritten
	 */
	function checkAll(wasClosed: boolean, reports: boolean): void {
		check = wasClosed && table.size > maxSmall ? "number" : "all";
		if (reports) rewritten ??= 0;
		work();
	}

	/** Starts the next round in the background, unless one runs, or the pause after a failure. Another round follows it. */
	function work(): void {
		if (working || pause || isClosing) return;
		if (check === "none" && later.size === 0) {
			// While layers are being written, it is not known yet whether all files are current.
			if (writing === 0) settle();
			return;
		}
		working = (check === "none" ? writeLater() : list()).then(() => {
			working = null;
			work();
		});
	}

	/** Called once all files are current. */
	function settle(): void {
		if (reason !== null) log.warn("the rendered files are current again");
		const layers = counted(rewritten ?? 0, "layer");
		if (rewritten)
			log.warn(`the rendered files of ${layers} were missing or other ones, and are written again`);
		[isLarge, reason, attempts, rewritten] = [false, null, 0, null];
	}

	async function writeLater(): Promise<void> {
		const smallkeys: string[] = [];
		for (const smallkey of later) {
			if (smallkeys.push(smallkey) === layersAtOnce) break;
		}
		const { written } = await write(smallkeys);
		if (rewritten !== null) rewritten += written;
	}

	/** Writes the files of layers as the table has them. Never rejects: layers whose files fail are written later. */
	async function write(smallkeys: readonly string[]) {
		for (const smallkey of smallkeys) later.delete(smallkey);
		writing += smallkeys.length;
		const entryOf = (smallkey: string) => [smallkey, table.entries.get(smallkey) ?? null] as const;
		const report = await folder.write(() => smallkeys.map(entryOf));
		writing -= smallkeys.length;
		for (const smallkey of report.failed) later.add(smallkey);
		if (report.hasMadeFolder) check = "all";
		if (report.reason !== null) pauseAfter(report.reason);
		else work();
		return report;
	}

	/** Lists the files. Layers to compare, and names of files that are not served, are written later. */
	async function list(): Promise<void> {
		const due = check;
		check = "none";
		isLarge ||= due === "all" && table.size > maxSmall;
		const found = await folder.list().catch(({ message }: Error) => pauseAfter(message));
		if (!found) {
			check = due;
			return;
		}
		const filesOf = (entry: RenderedLayer) => slots.filter((_, slot) => bodyOf(entry, slot)).length;
		await eachInSlices(table.entries, ([smallkey, entry]) => {
			if (due === "all" || found.get(smallkey) !== filesOf(entry)) later.add(smallkey);
			found.delete(smallkey);
		});
		await eachInSlices(found.keys(), (smallkey) => later.add(smallkey));
		isLarge ||= later.size > maxSmall;
	}

	/** Starts the pause after a failure, unless it runs already. */
	function pauseAfter(failure: string): void {
		if (reason === null) log.warn(`the rendered files cannot be written: ${failure}`);
		reason = failure;
		if (pause || isClosing) return;
		const pauseMs = Math.min(retryMs * 2 ** attempts, maxRetryMs);
		attempts += 1;
		pause = setTimeout(() => {
			pause = null;
			work();
		}, pauseMs).unref();
	}

	return {
		changed,
		checkAll,
		/** How many layers have files that wait to be written. */
		get behind(): number {
			return later.size + writing;
		},
		/** Why the files are not current, in one line; null if they are current. */
		state(): string | null {
			if (reason !== null)
				return `the rendered files of ${counted(this.behind, "layer")} are behind: ${reason}`;
			return isLarge ? "the rendered files of a large change are being written" : null;
		},
		/** Waits until nothing is being written. Files that could not be written are still behind then. */
		async idle(): Promise<void> {
			while (working || writing > 0) await (working ?? folder.idle());
		},
		/** Waits for the current writes and stops the thread. @returns whether the files are current */
		async close(): Promise<boolean> {
			isClosing = true;
			if (pause) clearTimeout(pause);
			await this.idle();
			await folder.close();
			return check === "none" && this.behind === 0;
		},
	};
}
