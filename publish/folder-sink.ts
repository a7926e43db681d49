import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../store/log.ts";
import { counted } from "../terminal/plain.ts";
import { openFolder } from "./folder.ts";
import type { Report } from "./folder-thread.mjs";
import { bodyOf, type RenderedLayer, type Slot } from "./rendered.ts";
import { eachInSlices } from "./slices.ts";
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
export function openFolderSink({ out, slots, table, log, times }: FolderOptions) {
	const { waitMs, retryMs, maxRetryMs } = { ...defaultTimes, ...times };
	const folder = openFolder(out, slots);
	/** Smallkeys of small changes, which wait for their files. */
	const urgent = new Set<string>();
	/** Smallkeys of large changes and of checks, and smallkeys whose files could not be written. */
	const later = new Set<string>();
	/** Smallkeys whose files are being written. */
	let current: readonly string[] = [];
	/** A check that is due: it looks for files that are missing or too many, or compares every file. */
	let check: "none" | "number" | "all" = "none";
	/** Whether the log gets the number of layers that were rewritten; it is known once nothing waits any more. */
	let reportsRewritten = false;
	let rewritten = 0;
	let isLarge = false;
	/** Why files could not be written; null once all files are current again. */
	let reason: string | null = null;
	let attempts = 0;
	/** The pause after a failure; only small changes are written during it. */
	let pause: NodeJS.Timeout | null = null;
	let working: Promise<void> | null = null;
	/** Settles when the round that is being written ends. */
	let round: Promise<void> = Promise.resolve();
	let isClosing = false;

	const behind = () => new Set([...urgent, ...later, ...current]).size;

	async function addLater(smallkeys: Iterable<string>): Promise<void> {
		await eachInSlices(smallkeys, (smallkey) => later.add(smallkey));
		isLarge ||= later.size > maxSmall;
	}

	/**
	 * Writes the files of changed layers. Waits for the files of a small change; writes a large one in the background.
	 * @returns warnings for the publisher, after at most `waitMs`
	 */
	async function changed(smallkeys: readonly string[]): Promise<string[]> {
		if (smallkeys.length > maxSmall) {
			// The number would have the layers of this change, too.
			reportsRewritten = false;
			await addLater(smallkeys);
			work();
			return [];
		}
		for (const smallkey of smallkeys) urgent.add(smallkey);
		work();
		const isWaiting = () => smallkeys.some((key) => urgent.has(key) || current.includes(key));
		const written = async () => {
			while (isWaiting()) await round;
		};
		await Promise.race([written(), sleep(waitMs, undefined, { ref: false })]);
		const isBehind = isWaiting() || smallkeys.some((smallkey) => later.has(smallkey));
		return isBehind ? ["the files of the web server in front are behind this registration for now"] : [];
	}

	/**
	 * Checks the files, in the background, and removes those of layers that are not served.
	 * @param wasClosed whether the last process closed normally: then only the number of each layer's files is checked,
	 * unless there are few layers
	 * @param reports whether the log gets the number of layers whose files were rewritten
	 */
	function checkAll(wasClosed: boolean, reports: boolean): void {
		check = wasClosed && table.size > maxSmall ? "number" : "all";
		reportsRewritten ||= reports;
		work();
	}

	function work(): void {
		working ??= runRounds().finally(() => {
			working = null;
			settle();
		});
	}

	async function runRounds(): Promise<void> {
		for (let next = nextRound(); next; next = nextRound()) {
			round = next();
			await round;
		}
	}

	/** The next round: small changes come first. Null: no round is left. */
	function nextRound(): (() => Promise<void>) | null {
		if (urgent.size > 0) return () => write(take(urgent), false);
		if (isClosing || pause !== null) return null;
		if (check !== "none") return list;
		return later.size > 0 ? () => write(take(later), true) : null;
	}

	async function write(smallkeys: readonly string[], isCounted: boolean): Promise<void> {
		current = smallkeys;
		for (const smallkey of smallkeys) later.delete(smallkey);
		const layers = smallkeys.map((smallkey) => [smallkey, table.entries.get(smallkey) ?? null] as const);
		const { failed, written, hasMadeFolder } = await attempt(folder.write(layers));
		current = [];
		for (const smallkey of failed) later.add(smallkey);
		if (isCounted) rewritten += written;
		// The folder was missing, so its other files are missing, too.
		if (hasMadeFolder) check = "all";
	}

	/** Lists the files. Layers to compare, and names of files that are not served, are written later. */
	async function list(): Promise<void> {
		const due = check;
		check = "none";
		isLarge ||= due === "all" && table.size > maxSmall;
		const listed = await attempt(folder.list());
		if (listed.reason !== null) {
			check = due;
			return;
		}
		const { found } = listed;
		const filesOf = (entry: RenderedLayer) => slots.filter((_, slot) => bodyOf(entry, slot)).length;
		await eachInSlices(table.entries, ([smallkey, entry]) => {
			if (due === "all" || found.get(smallkey) !== filesOf(entry)) later.add(smallkey);
			found.delete(smallkey);
		});
		await addLater(found.keys());
	}

	/** Waits for the thread's report. A failure starts the pause before the next retry. */
	async function attempt(task: Promise<Report>): Promise<Report> {
		const report = await task;
		if (report.reason === null) return report;
		if (reason === null) log.warn(`the rendered files cannot be written: ${report.reason}`);
		reason = report.reason;
		if (pause || isClosing) return report;
		const retry = () => {
			pause = null;
			work();
		};
		pause = setTimeout(retry, Math.min(retryMs * 2 ** attempts, maxRetryMs)).unref();
		attempts += 1;
		return report;
	}

	/** Called once nothing is being written: all files are current, or the pause before a retry is running. */
	function settle(): void {
		if (isClosing) return;
		if (nextRound()) return work();
		isLarge = false;
		if (pause) return;
		if (reason !== null) log.warn("the rendered files are current again");
		if (reportsRewritten && rewritten > 0) {
			const layers = counted(rewritten, "layer");
			log.warn(`the rendered files of ${layers} were missing or other ones, and are written again`);
		}
		[reason, attempts, reportsRewritten, rewritten] = [null, 0, false, 0];
	}

	return {
		changed,
		checkAll,
		/** How many layers have files that wait to be written. */
		get behind(): number {
			return behind();
		},
		/** Why the files are not current, in one line; null if they are current. */
		state(): string | null {
			if (reason !== null) return `the rendered files of ${counted(behind(), "layer")} are behind: ${reason}`;
			return isLarge ? "the rendered files of a large change are being written" : null;
		},
		/** Waits until nothing is being written. Files that could not be written are still behind then. */
		async idle(): Promise<void> {
			while (working) await working;
		},
		/** Waits for the current writes and stops the thread. @returns whether the files are current */
		async close(): Promise<boolean> {
			isClosing = true;
			if (pause) clearTimeout(pause);
			while (working) await working;
			await folder.close();
			return check === "none" && behind() === 0;
		},
	};
}

/** Removes and returns the first waiting smallkeys, at most one round of them. */
function take(waiting: Set<string>): string[] {
	const taken: string[] = [];
	for (const smallkey of waiting) {
		waiting.delete(smallkey);
		if (taken.push(smallkey) === layersAtOnce) break;
	}
	return taken;
}
