import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { startGit } from "./run.ts";

/** An object of a repository. */
export interface GitObject {
	id: string;
	type: string;
	body: Buffer;
}

interface Waiting {
	resolve: (object: GitObject | null) => void;
	reject: (error: Error) => void;
}

const newline = 0x0a;

/** One long-lived `git cat-file --batch`: objects by id, by ref or by `<commit>:<path>`, in the order asked for. */
export class CatFile {
	readonly #repository: string;
	#child: ChildProcessWithoutNullStreams | null = null;
	#waiting: Waiting[] = [];
	#chunks: Buffer[] = [];
	#buffered = 0;
	/** Bytes that have to be there before the next look at what has come. */
	#needed = 1;

	constructor(repository: string) {
		this.#repository = repository;
	}

	/** The object that a name stands for, or null. A name holds no line break. */
	read(name: string): Promise<GitObject | null> {
		return new Promise((resolve, reject) => {
			const child = this.#start();
			this.#waiting.push({ resolve, reject });
			child.stdin.write(`${name}\n`);
		});
	}

	/** Ends the process; reads that wait are refused. */
	close(): void {
		this.#child?.stdin.end();
	}

	#start(): ChildProcessWithoutNullStreams {
		if (this.#child) return this.#child;
		const child = startGit(this.#repository, ["cat-file", "--batch"]);
		this.#child = child;
		let complaint = "";
		child.stderr.on("data", (data: Buffer) => {
			complaint += data;
		});
		child.stdin.on("error", () => undefined);
		child.on("error", (error) => this.#fail(error));
		child.stdout.on("data", (data: Buffer) => this.#take(data));
		child.on("close", () => this.#fail(new Error(`git cat-file ended: ${complaint.trim()}`)));
		return child;
	}

	#fail(error: Error): void {
		const waiting = this.#waiting;
		this.#waiting = [];
		this.#child = null;
		this.#chunks = [];
		this.#buffered = 0;
		this.#needed = 1;
		for (const { reject } of waiting) reject(error);
	}

	#take(data: Buffer): void {
		this.#chunks.push(data);
		this.#buffered += data.length;
		if (this.#buffered < this.#needed) return;
		let rest = this.#chunks.length === 1 ? data : Buffer.concat(this.#chunks);
		for (let next = this.#parse(rest); next !== null; next = this.#parse(rest)) rest = rest.subarray(next);
		this.#chunks = [rest];
		this.#buffered = rest.length;
	}

	/** Answers the first waiting read from the start of `data`; the bytes used, or null where more have to come. */
	#parse(data: Buffer): number | null {
		this.#needed = data.length + 1;
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
		this.#needed = after + 1;
		if (data.length < after + 1) return null;
		const body = Buffer.from(data.subarray(end + 1, after));
		this.#waiting.shift()?.resolve({ id, type, body });
		return after + 1;
	}
}
