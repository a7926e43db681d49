import { basename, dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { companionEndings, compressedMark } from "./output.ts";

/** A file to write, with the length of its bytes, or to remove. */
interface RoundFile {
	path: string;
	length: number | null;
}

/** What the thread is told: the files of some layers, their bytes one behind the other. */
export interface FilesRound {
	layers: { smallkey: string; files: RoundFile[] }[];
	bytes: Uint8Array;
}

/** What became of it. */
export interface RoundReport {
	/** Smallkeys whose files could not be written. */
	failed: string[];
	/** Why, of the first one; null where all went well. */
	reason: string | null;
	/** Whether a folder was gone, and was made again: others may have gone with it. */
	hasMadeFolder: boolean;
}

/** The files of one layer: a path, and its bytes or null where the file goes. */
export interface LayerFiles {
	smallkey: string;
	files: readonly (readonly [path: string, body: Uint8Array | null])[];
}

interface Waiting {
	resolve: (report: RoundReport) => void;
	reject: (error: Error) => void;
}

/** Writes the files of few layers at a time in a thread, which starts with the first of them. */
export class FilesThread {
	readonly #out: string;
	#worker: Worker | null = null;
	#waiting: Waiting[] = [];

	/** @param out the folder of all rendered files; each is written beside it first */
	constructor(out: string) {
		this.#out = out;
	}

	/** Writes files, one layer after the other. @throws {Error} where the thread cannot be started, or ends */
	write(layers: readonly LayerFiles[]): Promise<RoundReport> {
		const bodies = layers.flatMap(({ files }) => files.flatMap(([, body]) => body ?? []));
		// Their own memory, which is handed over: a fragment is a part of a long run of bytes.
		const bytes = new Uint8Array(bodies.reduce((total, body) => total + body.length, 0));
		let offset = 0;
		for (const body of bodies) {
			bytes.set(body, offset);
			offset += body.length;
		}
		const round: FilesRound = {
			layers: layers.map(({ smallkey, files }) => ({
				smallkey,
				files: files.map(([path, body]) => ({ path, length: body?.length ?? null })),
			})),
			bytes,
		};
		return new Promise((resolve, reject) => {
			const worker = this.#start();
			worker.ref();
			this.#waiting.push({ resolve, reject });
			worker.postMessage(round, [bytes.buffer]);
		});
	}

	/** Ends the thread, after what it was told. */
	async close(): Promise<void> {
		await this.#worker?.terminate();
	}

	#start(): Worker {
		if (this.#worker) return this.#worker;
		const prefix = join(dirname(this.#out), `.${basename(this.#out)}.${process.pid}.`);
		const worker = new Worker(new URL("./files-thread-entry.mjs", import.meta.url), {
			workerData: { prefix, mark: join(this.#out, compressedMark), companionEndings },
			execArgv: [],
			env: {},
		});
		worker.on("message", (report: RoundReport) => {
			this.#waiting.shift()?.resolve(report);
			// Alone it does not keep the process alive.
			if (this.#waiting.length === 0) worker.unref();
		});
		worker.on("error", (error) => this.#fail(worker, error));
		worker.on("exit", () => this.#fail(worker, new Error("the thread that writes files has ended")));
		this.#worker = worker;
		return worker;
	}

	#fail(worker: Worker, error: Error): void {
		if (this.#worker !== worker) return;
		this.#worker = null;
		for (const { reject } of this.#waiting.splice(0)) reject(error);
	}
}
