import { findDifferent } from "./compared-files.ts";
import type { FewFiles } from "./few-files.ts";
import type { FilesFaults } from "./files-faults.ts";
import { mostHere, type RenderedFiles } from "./files-options.ts";
import { writeInProcess } from "./files-process.ts";

/** What a writer of many files is told, and tells. */
export interface ManyFilesOptions extends RenderedFiles {
	faults: FilesFaults;
	/** Who writes what differs where there are few, and what changed while the process was at work. */
	few: FewFiles;
	/** Told when nothing waits any more, or when it has to be tried again later. */
	settled: () => void;
	warn: (text: string) => void;
}

/** Has a process of its own write the rendered files of thousands of layers, or compare all files with the table. */
export class ManyFiles {
	readonly #options: ManyFilesOptions;
	/** Smallkeys whose files the process writes next. */
	readonly #next = new Set<string>();
	/** Whether all files are compared next. */
	#compares = false;
	/** Whether it is this process that compares the files, of few layers. */
	#comparesHere = false;
	/** Whether what a comparison finds is told. */
	#tells = false;
	/** Smallkeys that changed while the process was at work: it may have written what they were before. */
	#meanwhile: Set<string> | null = null;
	#working: Promise<void> | null = null;
	readonly #closing = new AbortController();

	constructor(options: ManyFilesOptions) {
		this.#options = options;
	}

	/** Smallkeys of the layers that wait for the process. */
	get waiting(): ReadonlySet<string> {
		return this.#next;
	}

	/** What is under way; null where nothing is. */
	get working(): Promise<void> | null {
		return this.#working;
	}

	/** Whether a process of its own is at work. */
	get isInProcess(): boolean {
		return this.#working !== null && !this.#comparesHere;
	}

	/** Whether all files are to be compared. */
	get compares(): boolean {
		return this.#compares;
	}

	/** Notes a layer whose files are written with the next round. */
	add(smallkey: string): void {
		this.#next.add(smallkey);
	}

	/** Notes a layer that changes now: a process that is at work may still write what it was before. */
	noteChange(smallkey: string): void {
		this.#meanwhile?.add(smallkey);
	}

	/** Has all files compared with the next round. @param tells whether what it finds is told */
	compareAll(tells = false): void {
		this.#compares = true;
		this.#tells ||= tells;
	}

	/** Works on what waits, round after round, in the background. */
	work(): void {
		this.#working ??= this.#rounds().finally(() => {
			this.#working = null;
			this.#options.settled();
		});
	}

	/** Ends the process that is at work; nothing is begun any more. */
	abort(): void {
		this.#closing.abort();
	}

	async #rounds(): Promise<void> {
		while ((this.#compares || this.#next.size > 0) && !this.#closing.signal.aborted) {
			if (this.#compares && this.#options.table.size <= mostHere) await this.#compareHere();
			else if (await this.#processRound()) return;
		}
	}

	/** @returns whether all has to be tried again later */
	async #processRound(): Promise<boolean> {
		const { faults, few, table } = this.#options;
		const all = this.#compares;
		const smallkeys = all ? [...table.smallkeys()] : [...this.#next];
		this.#compares = false;
		this.#next.clear();
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
		faults.remove(all ? [...faults.smallkeys] : smallkeys);
		if (reason !== null) this.#fail(failed, reason);
		few.add(meanwhile);
		await few.write();
		return all && failed === "all";
	}

	/** Compares the files of few layers with the table, and has those written that differ. */
	async #compareHere(): Promise<void> {
		const { few, table } = this.#options;
		this.#compares = false;
		this.#comparesHere = true;
		try {
			const different = await findDifferent(this.#options);
			this.#tell(different.size);
			few.add(different);
			await few.write();
		} catch (error) {
			this.#fail([...table.smallkeys()], (error as Error).message);
		} finally {
			this.#comparesHere = false;
		}
	}

	/** Notes what could not be written: of some layers, or of all, which are compared again then. */
	#fail(smallkeys: readonly string[] | "all", reason: string): void {
		if (smallkeys === "all") this.#compares = true;
		this.#options.faults.add(smallkeys === "all" ? [] : smallkeys, reason);
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
}
