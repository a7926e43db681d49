import { GitProcess } from "./process.ts";
import { GitFailure, GitKilled, GitTimeout, ordinarySilenceMs } from "./run.ts";

/** An object of a repository. */
export interface GitObject {
	id: string;
	type: string;
	body: Buffer;
}

interface Waiting {
	name: string;
	resolve: (object: GitObject | null) => void;
	reject: (error: Error) => void;
	/** Whether another process was asked before, and ended. */
	isRepeated: boolean;
}

/** How a process that reads objects is bounded. */
export interface CatFileLimits {
	/** Longest silence while an answer is awaited, in milliseconds. */
	silenceMs: number;
	/** Reads after which the process is replaced: git keeps what it has read of a repository in memory. */
	maxReads: number;
}

const ordinaryLimits: CatFileLimits = { silenceMs: ordinarySilenceMs, maxReads: 1_000_000 };

const newline = 0x0a;

/** A long-lived `git cat-file --batch`: objects by id, by ref or by `<commit>:<path>`, in the order asked for. */
export class CatFile {
	readonly #repository: string;
	readonly #limits: CatFileLimits;
	#process: GitProcess | null = null;
	/** Reads that the process was asked for. */
	#reads = 0;
	/** Whether no other process starts. */
	#hasEnded = false;
	#waiting: Waiting[] = [];
	#chunks: Buffer[] = [];
	#bufferedBytes = 0;
	/** Bytes that have to be there before the next look at what has come. */
	#neededBytes = 1;

	constructor(repository: string, limits: Partial<CatFileLimits> = {}) {
		this.#repository = repository;
		this.#limits = { ...ordinaryLimits, ...limits };
	}

	/**
	 * The object of a name, or null. A name holds no line break.
	 * @throws {GitTimeout} where git is silent for too long; the next read asks another process
	 */
	async read(name: string): Promise<GitObject | null> {
		return new Promise((resolve, reject) => this.#ask({ name, resolve, reject, isRepeated: false }));
	}

	/**
	 * Replaces the process once no read waits: git does not read again what it has found to be broken, and keeps packs
	 * open that a repack has removed.
	 */
	renew(): void {
		this.#reads = this.#limits.maxReads;
		this.#endRenewed();
	}

	/** Ends the process for good; reads that wait are answered first, unless it fails. */
	async close(): Promise<void> {
		this.#hasEnded = true;
		await this.#process?.close();
	}

	/** Ends the process for good, at once; reads that wait are refused. */
	kill(): void {
		this.#hasEnded = true;
		this.#process?.kill();
	}

	#ask(waiting: Waiting): void {
		if (this.#hasEnded) return waiting.reject(new GitFailure("git cat-file: has ended"));
		try {
			const process = this.#start();
			this.#waiting.push(waiting);
			this.#reads += 1;
			process.isAwaited = true;
			process.write(`${waiting.name}\n`);
		} catch (error) {
			waiting.reject(error as Error);
		}
	}

	/** Ends a process that another one has to go on from. */
	#endRenewed(): void {
		if (this.#waiting.length > 0 || this.#reads < this.#limits.maxReads) return;
		void this.#process?.close();
		this.#process = null;
	}

	#start(): GitProcess {
		this.#endRenewed();
		if (this.#process) return this.#process;
		this.#reads = 0;
		const process: GitProcess = new GitProcess(this.#repository, ["cat-file", "--batch"], "cat-file", {
			take: (data) => this.#take(data),
			ended: (error) => {
				if (this.#process === process) this.#fail(error);
			},
			silenceMs: this.#limits.silenceMs,
		});
		this.#process = process;
		return process;
	}

	#fail(error: Error): void {
		const waiting = this.#waiting;
		this.#waiting = [];
		this.#process = null;
		this.#chunks = [];
		this.#bufferedBytes = 0;
		this.#neededBytes = 1;
		// Git ends where it meets a broken object: the fault of the read that came first, not of those behind it.
		const isFirstAtFault = !(error instanceof GitKilled) || waiting[0]?.isRepeated === true;
		const faults = error instanceof GitTimeout || this.#hasEnded ? waiting.length : Number(isFirstAtFault);
		for (const { reject } of waiting.slice(0, faults)) reject(error);
		for (const again of waiting.slice(faults)) this.#ask({ ...again, isRepeated: true });
	}

	#take(data: Buffer): void {
		this.#chunks.push(data);
		this.#bufferedBytes += data.length;
		if (this.#bufferedBytes < this.#neededBytes) return;
		const whole = this.#chunks.length === 1 ? data : Buffer.concat(this.#chunks);
		let start = 0;
		let next = objectAt(whole, start);
		for (; "end" in next; next = objectAt(whole, start)) {
			const { object, end } = next;
			// A part of what has come would keep all of it in memory.
			this.#waiting.shift()?.resolve(object && { ...object, body: Buffer.from(object.body) });
			start = end;
		}
		const rest = whole.subarray(start);
		this.#chunks = [rest];
		this.#neededBytes = next.needed - start;
		this.#bufferedBytes = rest.length;
		if (this.#process && this.#waiting.length === 0) this.#process.isAwaited = false;
	}
}

/**
 * Reads the object that `git cat-file --batch` prints at a place: `<id> <type> <size>`, line break, content, line break;
 * or `<name> missing` and the like, which is null.
 * @returns the object and where it ends; where it is not whole yet, how many bytes of `data` there have to be
 */
export function objectAt(
	data: Buffer,
	start: number,
): { object: GitObject | null; end: number } | { needed: number } {
	const lineEnd = data.indexOf(newline, start);
	if (lineEnd < 0) return { needed: data.length + 1 };
	const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(data.toString("latin1", start, lineEnd));
	if (!header) return { object: null, end: lineEnd + 1 };
	const [, id = "", type = "", size = ""] = header;
	const bodyEnd = lineEnd + 1 + Number(size);
	if (data.length <= bodyEnd) return { needed: bodyEnd + 1 };
	return { object: { id, type, body: data.subarray(lineEnd + 1, bodyEnd) }, end: bodyEnd + 1 };
}
