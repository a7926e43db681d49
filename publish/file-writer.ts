import { setImmediate as nextTurn } from "node:timers/promises";
import pLimit from "p-limit";
import { parseSmallkey } from "../registry/smallkey.ts";
import { counted } from "../registry/untrusted.ts";
import type { Log } from "../store/store.ts";
import type { FragmentFolder } from "./place-file.ts";
import type { RenderedLayer } from "./rendered.ts";

const sliceMs = 4;

/** Readers are answered between slices. */
export async function eachInSlices<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
	let start = performance.now();
	for (const item of items) {
		task(item);
		if (performance.now() - start < sliceMs) continue;
		await nextTurn();
		start = performance.now();
	}
}

const defaultRetryMs = 5_000;

/** While more layers wait, the service is not ready. */
const maxReady = 1_000;

/** With the other spellings; null: not served. */
export type Rendered = ReadonlyMap<string, RenderedLayer | null>;

interface FileWriterOptions {
	render: (smallkey: string) => Promise<Rendered>;
	/** Forgets what was read of the layer. */
	drop: (smallkey: string) => void;
	log: Log;
	retryMs?: number | undefined;
}

/** Writes the files of one layer after another. What cannot be written is tried again. */
export class FileWriter {
	/** Smallkey → rank; with wrong layers until the files are compared. */
	readonly layers = new Map<string, number>();
	/** Names whose files may be missing, old or too many; each mark is another object. */
	readonly #stale = new Map<string, object>();
	/** Finds the files of layers that are not served. */
	#isListDue = false;
	#reason: string | null = null;
	/** Of the background, after a failure. */
	#pause: NodeJS.Timeout | undefined;
	#isClosed = false;
	/** A change waits for one layer of the background at most. */
	readonly #inOrder = pLimit(1);
	working: Promise<unknown> | null = null;

	constructor(
		readonly folder: FragmentFolder,
		readonly options: FileWriterOptions,
	) {}

	/** Writes their files in the background, from the state at that time. */
	mark(smallkeys: Iterable<string>): void {
		this.#mark(smallkeys);
		this.#work();
	}

	compareAll(): void {
		this.#isListDue = true;
		this.mark(this.layers.keys());
	}

	/** @returns false if a file could not be written */
	async write(smallkeys: readonly string[]): Promise<boolean> {
		this.#mark(smallkeys);
		const written = await Promise.all(smallkeys.map(this.#write));
		this.#work();
		return written.every(Boolean);
	}

	readonly isStale = (smallkey: string) => this.#stale.has(smallkey);

	get behind(): number {
		return this.#stale.size;
	}

	state(): string | null {
		if (this.#reason !== null)
			return `the rendered files of ${counted(this.behind, "layer")} are behind: ${this.#reason}`;
		return this.behind > maxReady ? "the rendered files of a large change are being written" : null;
	}

	async close(): Promise<boolean> {
		clearTimeout(this.#pause);
		this.#isClosed = true;
		await this.working;
		return this.#isCurrent;
	}

	get #isCurrent(): boolean {
		return !this.#isListDue && this.behind === 0;
	}

	#mark(smallkeys: Iterable<string>): void {
		for (const smallkey of smallkeys) {
			this.#stale.set(smallkey, {});
			this.options.drop(smallkey);
		}
	}

	#work(): void {
		if (this.working || this.#pause || this.#isClosed) return;
		if (this.#isCurrent) {
			if (this.#reason !== null) this.options.log.warn("the rendered files are current again");
			this.#reason = null;
			return;
		}
		const task = this.#isListDue ? this.#list().catch(this.#pauseAfter) : this.#writeAll();
		this.working = task.finally(() => {
			this.working = null;
			this.#work();
		});
	}

	async #writeAll(): Promise<void> {
		for (const smallkey of this.#stale.keys()) {
			await this.#write(smallkey);
			if (this.#pause || this.#isClosed) return;
		}
	}

	async #list(): Promise<void> {
		const names = await this.folder.list();
		this.#isListDue = false;
		await eachInSlices(names, (name) => {
			if (parseSmallkey(name)) this.mark([name]);
			else this.folder.place(name, null);
		});
	}

	readonly #write = (smallkey: string): Promise<boolean> =>
		this.#inOrder(async () => {
			// Readers are answered between layers.
			await nextTurn();
			const mark = this.#stale.get(smallkey);
			if (!mark) return true;
			try {
				for (const [name, layer] of await this.options.render(smallkey)) this.#place(name, layer);
				// Unless it was marked again meanwhile.
				if (this.#stale.get(smallkey) === mark) this.#stale.delete(smallkey);
				return true;
			} catch (error) {
				// It is tried again after all others.
				this.#stale.delete(smallkey);
				this.#mark([smallkey]);
				return this.#pauseAfter(error as Error);
			}
		});

	#place(smallkey: string, layer: RenderedLayer | null): void {
		const { folder, layers } = this;
		if (layer) layers.set(smallkey, layer.rank);
		else layers.delete(smallkey);
		this.options.drop(smallkey);
		try {
			folder.place(smallkey, layer);
		} catch (error) {
			if (!folder.isMissing()) throw error;
			// It was removed, with all files.
			folder.makeFolders();
			this.compareAll();
			folder.place(smallkey, layer);
		}
	}

	readonly #pauseAfter = ({ message }: Error) => {
		const { log, retryMs = defaultRetryMs } = this.options;
		if (this.#reason === null) log.warn(`the rendered files cannot be written: ${message}`);
		this.#reason = message;
		this.#pause ??= setTimeout(() => {
			this.#pause = undefined;
			this.#work();
		}, retryMs).unref();
		return false;
	};
}
