import { areAsMany } from "./compared-files.ts";
import { FewFiles } from "./few-files.ts";
import { FilesFaults } from "./files-faults.ts";
import { mostHere, type RenderedFiles } from "./files-options.ts";
import { ManyFiles } from "./many-files.ts";
import { nextTurn, Slices } from "./slices.ts";

/** What the rendered files need from outside. */
export interface FilesOptions extends RenderedFiles {
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

/**
 * The rendered files of all layers, brought in step with the table off the event loop: of few layers by a thread, of
 * many by a process. They are derived: whatever happens to them, reads from the table go on, and they are tried again.
 */
export class Files {
	readonly #options: FilesOptions;
	readonly #times: FilesTimes;
	readonly #faults: FilesFaults;
	readonly #few: FewFiles;
	readonly #many: ManyFiles;
	#timer: NodeJS.Timeout | null = null;
	#tries = 0;
	#isClosing = false;

	constructor(options: FilesOptions) {
		this.#options = options;
		this.#times = { ...ordinaryTimes, ...options.times };
		const { out, slots, table, warn } = options;
		const settled = () => this.#settle();
		this.#faults = new FilesFaults(warn);
		const parts = { out, slots, table, faults: this.#faults, settled };
		this.#few = new FewFiles({ ...parts, madeFolder: () => this.compareAll() });
		this.#many = new ManyFiles({ ...parts, few: this.#few, warn });
	}

	/** Why the files are not in step, in one line; null where they are. */
	state(): string | null {
		const behind = this.#faults.smallkeys.size + this.#many.waiting.size;
		const { reason } = this.#faults;
		if (reason !== null) return `the rendered files of ${behind} layers are behind: ${reason}`;
		if (this.#many.isInProcess) return "the rendered files are brought in step with a large change";
		return null;
	}

	/** How many layers have files that wait to be written. */
	get behind(): number {
		return new Set([...this.#few.waiting, ...this.#many.waiting, ...this.#faults.smallkeys]).size;
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
		this.#few.add(smallkeys);
		for (const smallkey of smallkeys) this.#many.noteChange(smallkey);
		await withinTime(this.#few.write(), this.#times.waitMs);
		const isBehind = smallkeys.some(
			(smallkey) => this.#few.waiting.has(smallkey) || this.#faults.smallkeys.has(smallkey),
		);
		return isBehind ? ["the files of the web server in front are behind this registration for now"] : [];
	}

	/** Notes thousands of layers, with a turn for readers now and then, and has a process write their files. */
	async #changedMany(smallkeys: readonly string[]): Promise<void> {
		const slices = new Slices();
		for (const smallkey of smallkeys) {
			this.#many.add(smallkey);
			this.#many.noteChange(smallkey);
			await slices.pause();
		}
		await nextTurn();
		this.#many.work();
	}

	/**
	 * Compares every file with the table, in the background: after an end that nobody saw coming.
	 * @param tells whether the log is told how many had to be written again: there were files before
	 */
	compareAll(tells = false): void {
		this.#many.compareAll(tells);
		this.#many.work();
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
		while (this.#few.writing || this.#many.working) {
			await Promise.all([this.#few.writing, this.#many.working]);
		}
	}

	/** Ends. @returns whether the files are in step */
	async close(): Promise<boolean> {
		this.#isClosing = true;
		this.#many.abort();
		if (this.#timer) clearTimeout(this.#timer);
		await this.idle();
		await this.#few.close();
		return !this.#many.compares && this.behind === 0;
	}

	/** Once nothing is under way: all is in step, or what failed is tried again after a pause. */
	#settle(): void {
		if (this.#few.writing || this.#many.working || this.#isClosing) return;
		if (this.#few.waiting.size > 0) return void this.#few.write();
		if (this.#faults.smallkeys.size === 0 && !this.#many.compares && this.#many.waiting.size === 0) {
			this.#faults.end();
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
		const failed = [...this.#faults.smallkeys];
		if (failed.length > mostHere) for (const smallkey of failed) this.#many.add(smallkey);
		else this.#few.add(failed);
		if (this.#many.compares || this.#many.waiting.size > 0) this.#many.work();
		if (this.#few.waiting.size > 0) void this.#few.write();
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
