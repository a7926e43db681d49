import { setImmediate as nextTurn } from "node:timers/promises";
import { parseSmallkey } from "../registry/smallkey.ts";
import { counted } from "../registry/untrusted-text.ts";
import type { Log } from "../store/store.ts";
import type { openFolder } from "./place-file.ts";
import type { RenderedLayer } from "./rendered.ts";

const sliceMs = 4;

/** The service answers readers between slices. */
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
/** While more layers wait, the service says that it is not ready. */
const maxSmall = 1_000;

export type Rendered = ReadonlyMap<string, RenderedLayer | null>;

/**
 * Writes the files of a change at once, all others in the background. What cannot be written is tried again.
 */
export function openFileWriter(options: {
	folder: ReturnType<typeof openFolder>;
	/** Smallkey → rank. */
	layers: Map<string, number>;
	render: (smallkeys: readonly string[]) => Promise<Rendered>;
	written: (smallkey: string) => void;
	log: Log;
	/** Before a failed write is tried again. */
	retryMs?: number | undefined;
}) {
	const { folder, layers, render, written, log, retryMs = defaultRetryMs } = options;
	/** Names whose files may be missing, old or too many. */
	const stale = new Set<string>();
	/** To find the files of layers that are not served. */
	let isListDue = false;
	/** In lower case: changed since the round in the background read its layers. */
	const overtaken = new Set<string>();
	let isLarge = false;
	/** Null once all files are current again. */
	let reason: string | null = null;
	let pause: NodeJS.Timeout | null = null;
	let working: Promise<void> | null = null;
	let isClosing = false;

	function mark(smallkeys: Iterable<string>): void {
		for (const smallkey of smallkeys) {
			stale.add(smallkey);
			overtaken.add(smallkey.toLowerCase());
		}
		if (stale.size > maxSmall) isLarge = true;
	}

	function compareAll(): void {
		mark(layers.keys());
		isListDue = true;
		work();
	}

	async function write(smallkeys: readonly string[], render: () => Promise<Rendered>): Promise<boolean> {
		mark(smallkeys);
		const failure = await place(await render()).then(
			() => null,
			({ message }: Error) => message,
		);
		if (failure !== null) pauseAfter(failure);
		return failure === null;
	}

	function work(): void {
		if (working || isClosing || pause) return;
		if (!isListDue && stale.size === 0) return settle();
		working = (isListDue ? list() : writeSome())
			.catch(({ message }: Error) => pauseAfter(message))
			.finally(() => {
				working = null;
				work();
			});
	}

	async function list(): Promise<void> {
		const names = await folder.list();
		isListDue = false;
		await eachInSlices(names, (name) => {
			if (parseSmallkey(name)) stale.add(name);
			else folder.place(name, null);
		});
	}

	async function writeSome(): Promise<void> {
		const smallkeys: string[] = [];
		for (const smallkey of stale) if (smallkeys.push(smallkey) === layersAtOnce) break;
		// A layer that fails is tried again after all others.
		for (const smallkey of smallkeys) {
			stale.delete(smallkey);
			stale.add(smallkey);
		}
		overtaken.clear();
		await place(await render(smallkeys), true);
	}

	/**
	 * @param isLater of a round in the background
	 * @throws {Error} the first failure, once all others are written
	 */
	async function place(rendered: Rendered, isLater = false): Promise<void> {
		const failures: unknown[] = [];
		try {
			// The folder was removed with its other files.
			if (folder.makeFolders()) compareAll();
		} catch {
			// The writes below fail.
		}
		await eachInSlices(rendered, ([smallkey, layer]) => {
			if (!isLater) overtaken.add(smallkey.toLowerCase());
			else if (overtaken.has(smallkey.toLowerCase())) return;
			try {
				folder.place(smallkey, layer);
				stale.delete(smallkey);
			} catch (error) {
				failures.push(error);
			}
			if (layer) layers.set(smallkey, layer.rank);
			else layers.delete(smallkey);
			written(smallkey);
		});
		if (failures.length > 0) throw failures[0];
	}

	function settle(): void {
		if (reason !== null) log.warn("the rendered files are current again");
		[isLarge, reason] = [false, null];
	}

	function pauseAfter(failure: string): void {
		if (reason === null) log.warn(`the rendered files cannot be written: ${failure}`);
		reason = failure;
		if (pause || isClosing) return;
		pause = setTimeout(() => {
			pause = null;
			work();
		}, retryMs).unref();
	}

	return {
		mark,
		compareAll,
		write,
		work,
		isStale: (smallkey: string) => stale.has(smallkey),
		get behind(): number {
			return stale.size;
		},
		state(): string | null {
			if (reason !== null)
				return `the rendered files of ${counted(stale.size, "layer")} are behind: ${reason}`;
			return isLarge ? "the rendered files of a large change are being written" : null;
		},
		async idle(): Promise<void> {
			while (working) await working;
		},
		async close(): Promise<boolean> {
			isClosing = true;
			if (pause) clearTimeout(pause);
			await working;
			return !isListDue && stale.size === 0;
		},
	};
}
