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
		let rest = this.#chunks.length === 1 ? data : Buffer.concat(this.#chunks);
		for (let next = this.#parse(rest); next !== null; next = this.#parse(rest)) rest = rest.subarray(next);
		this.#chunks = [rest];
		this.#bufferedBytes = rest.length;
		if (this.#process && this.#waiting.length === 0) this.#process.isAwaited = false;
	}

	/** Answers the first waiting read from the start of `data`; the bytes used, or null where more have to come. */
	#parse(data: Buffer): number | null {
		this.#neededBytes = data.length + 1;
		const end = data.indexOf(newline);
		if (end < 0) return null;
		// `<id> <type> <size>`, or `<name> missing` and the like, with nothing behind it.
		const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(data.toString("latin1", 0, end));
		if (!header) {
			this.#waiting.shift()?.resolve(null);
			return end + 1;
		}
		const [, id = "", type = "", size = ""] = header;
		const after = end + 1 + Number(size);
		this.#neededBytes = after + 1;
		if (data.length < after + 1) return null;
		const body = Buffer.from(data.subarray(end + 1, after));
		this.#waiting.shift()?.resolve({ id, type, body });
		return after + 1;
	}
}
