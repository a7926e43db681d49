import { join } from "node:path";
import { type Slot, slotPath } from "../build/slots.ts";
import { areAsMany, findDifferent } from "./compared-files.ts";
import { writeInProcess } from "./files-process.ts";
import { FilesThread, type LayerFiles } from "./files-thread.ts";
import { isThere } from "./rendered-file.ts";
import { nextTurn, Slices } from "./slices.ts";
import { bodyOf, type Table } from "./table.ts";

/** What the rendered files need from outside. */
export interface FilesOptions {
	/** The folder of rendered files, for a web server in front. */
	out: string;
	slots: readonly Slot[];
	/** What they have to be in step with. */
	table: Table;
	/** Told once when files cannot be written, and once when all are in step again. */
	warn: (text: string) => void;
	times?: Partial<FilesTimes> | undefined;
}

/** Times in milliseconds. */
export interface FilesTimes {
	/** How long a change waits for its files at most. */
	waitMs: number;
	/** The first pause before files that could not be written are tried again, and the longest: each is twice the last. */
	retryMs: number;
	maxRetryMs: number;
}

const ordinaryTimes: FilesTimes = { waitMs: 1_000, retryMs: 500, maxRetryMs: 60_000 };

/** Layers of one change up to which a thread of this process writes the files. */
const mostHere = 1_000;

/**
 * The rendered files of all layers, brought in step with the table off the event loop. They are derived: whatever
 * happens to them, reads from the table go on, and they are tried again.
 */
export class Files {
	readonly #options: FilesOptions;
	readonly #times: FilesTimes;
	readonly #thread: FilesThread;
	/** Smallkeys whose files this process writes next. */
	readonly #next = new Set<string>();
	/** Smallkeys whose files a process of their own writes next. */
	readonly #many = new Set<string>();
	/** Whether that process compares all files. */
	#compares = false;
	/** Whether it is this process that compares the files, of few layers. */
	#comparesHere = false;
	/** Whether what a comparison finds is told. */
	#tells = false;
	/** Smallkeys whose files could not be written, and why. */
	readonly #failed = new Set<string>();
	#reason: string | null = null;
	/** Smallkeys that changed while the process was at work: it may have written what they were before. */
	#meanwhile: Set<string> | null = null;
	#writing: Promise<void> | null = null;
	#processing: Promise<void> | null = null;
	#timer: NodeJS.Timeout | null = null;
	#tries = 0;
	readonly #closing = new AbortController();

	constructor(options: FilesOptions) {
		this.#options = options;
		this.#thread = new FilesThread(options.out);
		this.#times = { ...ordinaryTimes, ...options.times };
	}

	/** Why the files are not in step, in one line; null where they are. */
	state(): string | null {
		const behind = this.#failed.size + this.#many.size;
		if (this.#reason !== null) return `the rendered files of ${behind} layers are behind: ${this.#reason}`;
		if (this.#processing && !this.#comparesHere)
			return "the rendered files are brought in step with a large change";
		return null;
	}

	/** How many layers have files that wait to be written. */
	get behind(): number {
		return new Set([...this.#next, ...this.#many, ...this.#failed]).size;
	}

	/**
	 * Brings the files of changed layers in step: of few before it answers, of many in the background.
	 * @returns what a publisher should know, after a second at most
	 */
	async changed(smallkeys: readonly string[]): Promise<string[]> {
		if (smallkeys.length === 0) return [];
		if (smallkeys.length > mostHere) {
			await this.#changedMany(smallkeys);
			return [];
		}
		for (const smallkey of smallkeys) {
			this.#next.add(smallkey);
			this.#meanwhile?.add(smallkey);
		}
		await withinTime(this.#write(), this.#times.waitMs);
		const isBehind = smallkeys.some((smallkey) => this.#next.has(smallkey) || this.#failed.has(smallkey));
		return isBehind ? ["the files of the web server in front are behind this registration for now"] : [];
	}

	/** Notes thousands of layers, with a turn for readers now and then, and has a process write their files. */
	async #changedMany(smallkeys: readonly string[]): Promise<void> {
		const slices = new Slices();
		for (const smallkey of smallkeys) {
			this.#many.add(smallkey);
			this.#meanwhile?.add(smallkey);
			await slices.pause();
		}
		await nextTurn();
		this.#process();
	}

	/**
	 * Compares every file with the table, in the background: after an end that nobody saw coming.
	 * @param tells whether the log is told how many had to be written again: there were files before
	 */
	compareAll(tells = false): void {
		this.#compares = true;
		this.#tells ||= tells;
		this.#process();
	}

	/** Whether there are so few files that they can be compared at every start. */
	get areFew(): boolean {
		return this.#options.table.size <= mostHere;
	}

	/** Whether as many files are there as the table has fragments. */
	countAll(): Promise<boolean> {
		return areAsMany(this.#options);
	}

	/** Waits until nothing is under way; what could not be written is behind still. */
	async idle(): Promise<void> {
		while (this.#writing || this.#processing) await Promise.all([this.#writing, this.#processing]);
	}

	/** Ends. @returns whether the files are in step */
	async close(): Promise<boolean> {
		this.#closing.abort();
		if (this.#timer) clearTimeout(this.#timer);
		await this.idle();
		await this.#thread.close();
		return !this.#compares && this.behind === 0;
	}

	/** Writes what this process writes, round after round. */
	#write(): Promise<void> {
		this.#writing ??= this.#writeRounds().finally(() => {
			this.#writing = null;
			this.#settle();
		});
		return this.#writing;
	}

	async #writeRounds(): Promise<void> {
		while (this.#next.size > 0) {
			const isCompressed = await isThere(join(this.#options.out, ".compressed"));
			const smallkeys = [...this.#next];
			this.#next.clear();
			await this.#writeLayers(smallkeys, isCompressed);
		}
	}

	async #writeLayers(smallkeys: readonly string[], isCompressed: boolean): Promise<void> {
		try {
			const layers = smallkeys.map((smallkey) => this.#layerFiles(smallkey));
			const { failed, reason, hasMadeFolder } = await this.#thread.write(layers, isCompressed);
			for (const smallkey of smallkeys) this.#failed.delete(smallkey);
			if (reason !== null) this.#fail(failed, reason);
			// Somebody has removed a folder, and with it all that was there.
			if (hasMadeFolder) this.compareAll();
		} catch (error) {
			this.#fail(smallkeys, (error as Error).message);
		}
	}

	/** The files of a layer as they should be. */
	#layerFiles(smallkey: string): LayerFiles {
		const { out, slots, table } = this.#options;
		const entry = table.entry(smallkey);
		const files = slots.map((slot, position) => {
			return [join(out, slotPath(slot, smallkey)), entry ? bodyOf(entry, position) : null] as const;
		});
		return { smallkey, files };
	}

	/** Has a process of its own write the files of thousands of layers, or compare all. */
	#process(): void {
		this.#processing ??= this.#processRounds().finally(() => {
			this.#processing = null;
			this.#settle();
		});
	}

	async #processRounds(): Promise<void> {
		while ((this.#compares || this.#many.size > 0) && !this.#closing.signal.aborted) {
			const all = this.#compares;
			if (all && this.#options.table.size <= mostHere) {
				await this.#compareHere();
				continue;
			}
			const smallkeys = all ? [...this.#options.table.smallkeys()] : [...this.#many];
			this.#compares = false;
			this.#many.clear();
			const meanwhile = new Set<string>();
			this.#meanwhile = meanwhile;
			const { failed, reason, written } = await writeInProcess(smallkeys, {
				...this.#options,
				removeOthers: all,
				// Their files are not the process's to remove.
				except: () => [...meanwhile],
				signal: this.#closing.signal,
			});
			this.#meanwhile = null;
			if (all) this.#tell(written);
			if (all) this.#failed.clear();
			for (const smallkey of smallkeys) this.#failed.delete(smallkey);
			if (reason !== null) this.#fail(failed, reason);
			for (const smallkey of meanwhile) this.#next.add(smallkey);
			await this.#write();
			// Tried again later, with the rest.
			if (all && failed === "all") return;
		}
	}

	/** Compares the files of few layers with the table, and writes those that differ. */
	async #compareHere(): Promise<void> {
		this.#compares = false;
		this.#comparesHere = true;
		try {
			const different = await findDifferent(this.#options);
			this.#tell(different.size);
			for (const smallkey of different) this.#next.add(smallkey);
			await this.#write();
		} catch (error) {
			this.#fail([...this.#options.table.smallkeys()], (error as Error).message);
		} finally {
			this.#comparesHere = false;
		}
	}

	/** Tells how many layers had files that were gone or others. */
	#tell(layers: number): void {
		if (this.#tells && layers > 0) {
			this.#options.warn(
				`the rendered files of ${layers} layers were missing or other ones, and are written again`,
			);
		}
		this.#tells = false;
	}

	/** Notes what could not be written; it is said once until all is in step again. */
	#fail(smallkeys: readonly string[] | "all", reason: string): void {
		if (smallkeys === "all") this.#compares = true;
		else for (const smallkey of smallkeys) this.#failed.add(smallkey);
		if (this.#reason === null) this.#options.warn(`the rendered files cannot be written: ${reason}`);
		this.#reason = reason;
	}

	/** Once nothing is under way: all is in step, or what failed is tried again after a pause. */
	#settle(): void {
		if (this.#writing || this.#processing || this.#closing.signal.aborted) return;
		if (this.#next.size > 0) return void this.#write();
		if (this.#failed.size === 0 && !this.#compares && this.#many.size === 0) {
			if (this.#reason !== null) this.#options.warn("the rendered files are in step again");
			this.#reason = null;
			this.#tries = 0;
			return;
		}
		const { retryMs, maxRetryMs } = this.#times;
		const pauseMs = Math.min(retryMs * 2 ** this.#tries, maxRetryMs);
		this.#tries += 1;
		if (this.#timer) clearTimeout(this.#timer);
		this.#timer = setTimeout(() => this.#retry(), pauseMs).unref();
	}

	#retry(): void {
		const many = this.#failed.size > mostHere;
		for (const smallkey of this.#failed) (many ? this.#many : this.#next).add(smallkey);
		if (this.#compares || this.#many.size > 0) this.#process();
		if (this.#next.size > 0) void this.#write();
	}
}

/** Waits for `work`, but no longer than a time in milliseconds. */
async function withinTime(work: Promise<void>, timeMs: number): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, timeMs);
	});
	await Promise.race([work, late]);
	clearTimeout(timer);
}
