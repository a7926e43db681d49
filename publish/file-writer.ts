import { setImmediate as nextTurn } from "node:timers/promises";
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

const layersAtOnce = 64;
/** Once more layers wait, the service is not ready until all are written. */
const maxReady = 1_000;

export type Rendered = ReadonlyMap<string, RenderedLayer | null>;

interface FileWriterOptions {
	render: (smallkeys: readonly string[]) => Promise<Rendered>;
	onPlaced: (smallkey: string) => void;
	log: Log;
	retryMs?: number | undefined;
}

/** Writes the files of a change at once, others in the background. What cannot be written is tried again. */
export class FileWriter {
	/** Smallkey → rank; with wrong layers until the files are compared. */
	readonly layers = new Map<string, number>();
	/** Names whose files may be missing, old or too many. */
	readonly #stale = new Set<string>();
	/** Finds the files of layers that are not served. */
	#isListDue = false;
	/** In lower case: changed since the background round read its layers. */
	readonly #overtaken = new Set<string>();
	#isLarge = false;
	#reason: string | null = null;
	/** Before the next round. */
	#pause: NodeJS.Timeout | undefined;
	#isClosed = false;
	working: Promise<unknown> | null = null;

	constructor(
		readonly folder: FragmentFolder,
		readonly options: FileWriterOptions,
	) {}

	mark(smallkeys: Iterable<string>): void {
		for (const smallkey of smallkeys) {
			this.#stale.add(smallkey);
			this.#overtaken.add(smallkey.toLowerCase());
		}
		if (this.behind > maxReady) this.#isLarge = true;
	}

	compareAll(): void {
		this.mark(this.layers.keys());
		this.#isListDue = true;
		this.work();
	}

	/** @returns false if a file could not be written @throws what `render` throws */
	async write(smallkeys: readonly string[], render: () => Promise<Rendered>): Promise<boolean> {
		this.mark(smallkeys);
		return this.#place(await render(), "change").then(() => true, this.#pauseAfter);
	}

	work(): void {
		if (this.working || this.#pause || this.#isClosed) return;
		if (this.#isCurrent) {
			if (this.#reason !== null) this.options.log.warn("the rendered files are current again");
			this.#reason = null;
			this.#isLarge = false;
			return;
		}
		this.working = (this.#isListDue ? this.#list() : this.#writeSome())
			.catch(this.#pauseAfter)
			.finally(() => {
				this.working = null;
				this.work();
			});
	}

	readonly isStale = (smallkey: string) => this.#stale.has(smallkey);

	get behind(): number {
		return this.#stale.size;
	}

	state(): string | null {
		if (this.#reason !== null)
			return `the rendered files of ${counted(this.behind, "layer")} are behind: ${this.#reason}`;
		return this.#isLarge ? "the rendered files of a large change are being written" : null;
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

	async #list(): Promise<void> {
		const names = await this.folder.list();
		this.#isListDue = false;
		await eachInSlices(names, (name) => {
			if (parseSmallkey(name)) this.#stale.add(name);
			else this.folder.place(name, null);
		});
	}

	async #writeSome(): Promise<void> {
		const smallkeys: string[] = [];
		for (const smallkey of this.#stale) {
			smallkeys.push(smallkey);
			if (smallkeys.length === layersAtOnce) break;
		}
		// A layer that fails is tried again after all others.
		for (const smallkey of smallkeys) {
			this.#stale.delete(smallkey);
			this.#stale.add(smallkey);
		}
		this.#overtaken.clear();
		await this.#place(await this.options.render(smallkeys), "background");
	}

	/** @throws {Error} the first failure, once all others are written */
	async #place(rendered: Rendered, origin: "change" | "background"): Promise<void> {
		const { folder, layers } = this;
		const failures: unknown[] = [];
		try {
			// The folder was removed, with all files.
			if (folder.makeFolders()) this.compareAll();
		} catch {
			// The writes below fail, too.
		}
		await eachInSlices(rendered, ([smallkey, layer]) => {
			if (origin === "change") this.#overtaken.add(smallkey.toLowerCase());
			else if (this.#overtaken.has(smallkey.toLowerCase())) return;
			try {
				folder.place(smallkey, layer);
				this.#stale.delete(smallkey);
			} catch (error) {
				failures.push(error);
			}
			if (layer) layers.set(smallkey, layer.rank);
			else layers.delete(smallkey);
			this.options.onPlaced(smallkey);
		});
		if (failures.length > 0) throw failures[0];
	}

	readonly #pauseAfter = ({ message }: Error) => {
		const { log, retryMs = defaultRetryMs } = this.options;
		if (this.#reason === null) log.warn(`the rendered files cannot be written: ${message}`);
		this.#reason = message;
		this.#pause ??= setTimeout(() => {
			this.#pause = undefined;
			this.work();
		}, retryMs).unref();
		return false;
	};
}
