import { join } from "node:path";
import { bodyOf } from "./entry.ts";
import type { FilesFaults } from "./files-faults.ts";
import type { RenderedFiles } from "./files-options.ts";
import { FilesThread, type LayerFiles } from "./files-thread.ts";
import { slotPath } from "./slots.ts";

/** What a writer of few files is told, and tells. */
export interface FewFilesOptions extends RenderedFiles {
	faults: FilesFaults;
	/** Told when a folder had to be made: somebody has removed it, and with it all that was there. */
	madeFolder: () => void;
	/** Told when nothing waits any more. */
	settled: () => void;
}

/** Writes the rendered files of few layers by a thread of this process, round after round. */
export class FewFiles {
	readonly #options: FewFilesOptions;
	readonly #thread: FilesThread;
	/** Smallkeys whose files are written next. */
	readonly #next = new Set<string>();
	#writing: Promise<void> | null = null;

	constructor(options: FewFilesOptions) {
		this.#options = options;
		this.#thread = new FilesThread(options.out);
	}

	/** Smallkeys of the layers that wait. */
	get waiting(): ReadonlySet<string> {
		return this.#next;
	}

	/** What is under way; null where nothing is. */
	get writing(): Promise<void> | null {
		return this.#writing;
	}

	/** Notes layers whose files are written with the next round. */
	add(smallkeys: Iterable<string>): void {
		for (const smallkey of smallkeys) this.#next.add(smallkey);
	}

	/** Writes what waits; resolves once nothing does, written or not. */
	write(): Promise<void> {
		this.#writing ??= this.#rounds().finally(() => {
			this.#writing = null;
			this.#options.settled();
		});
		return this.#writing;
	}

	/** Ends the thread. */
	async close(): Promise<void> {
		await this.#thread.close();
	}

	async #rounds(): Promise<void> {
		while (this.#next.size > 0) {
			const smallkeys = [...this.#next];
			this.#next.clear();
			await this.#writeLayers(smallkeys);
		}
	}

	async #writeLayers(smallkeys: readonly string[]): Promise<void> {
		const { faults, madeFolder } = this.#options;
		try {
			const layers = smallkeys.map((smallkey) => this.#layerFiles(smallkey));
			const { failed, reason, hasMadeFolder } = await this.#thread.write(layers);
			faults.remove(smallkeys);
			if (reason !== null) faults.add(failed, reason);
			if (hasMadeFolder) madeFolder();
		} catch (error) {
			faults.add(smallkeys, (error as Error).message);
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
}
