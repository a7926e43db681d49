import { Answers, GitProcess, type ReadAnswer } from "./process.ts";
import { GitDamage, GitFailure, GitKilled, GitTimeout, gitOutput, ordinarySilenceMs, runGit } from "./run.ts";

/** An object of a repository. */
export interface GitObject {
	id: string;
	type: string;
	body: Buffer;
}

/**
 * Reads the object that `git cat-file --batch` prints: `<id> <type> <size>`, line break, content, line break; or
 * `<name> missing` and the like, which is null.
 */
const objectAt: ReadAnswer<GitObject | null> = (data, start) => {
	const lineEnd = data.indexOf("\n", start);
	if (lineEnd < 0) return { needed: data.length + 1 };
	const header = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(data.toString("latin1", start, lineEnd));
	if (!header) return { answer: null, end: lineEnd + 1 };
	const [, id = "", type = "", size = ""] = header;
	const bodyEnd = lineEnd + 1 + Number(size);
	if (data.length <= bodyEnd) return { needed: bodyEnd + 1 };
	return { answer: { id, type, body: data.subarray(lineEnd + 1, bodyEnd) }, end: bodyEnd + 1 };
};

/** A long-lived `git cat-file --batch`: objects by id, by ref or by `<commit>:<path>`, in the order asked for. */
export class CatFile {
	readonly #repository: string;
	readonly #silenceMs: number;
	readonly #maxReads: number;
	#process: GitProcess<GitObject | null> | null = null;
	/** Reads that the process was asked for. */
	#reads = 0;
	/** Whether no other process starts. */
	#hasEnded = false;

	/**
	 * @param silenceMs longest silence while an answer is awaited, in milliseconds
	 * @param maxReads reads after which the process is replaced: git keeps what it has read of a repository in memory
	 */
	constructor(repository: string, silenceMs = ordinarySilenceMs, maxReads = 1_000_000) {
		this.#repository = repository;
		this.#silenceMs = silenceMs;
		this.#maxReads = maxReads;
	}

	/**
	 * The object of a name, or null. A name holds no line break.
	 * @throws {GitTimeout} where git is silent for too long; the next read asks another process
	 */
	async read(name: string): Promise<GitObject | null> {
		for (let isRepeated = false; ; isRepeated = true) {
			if (this.#hasEnded) throw new GitFailure("git cat-file: has ended");
			const process = this.#start();
			try {
				const object = await process.ask([`${name}\n`]);
				// A part of what has come would keep all of it in memory.
				return object && { ...object, body: Buffer.from(object.body) };
			} catch (error) {
				// Git ends where it meets a broken object: the fault of the read that fails first, not of those behind it.
				const isAtFault = this.#process === process;
				if (isAtFault) this.#process = null;
				if (this.#hasEnded || error instanceof GitTimeout) throw error;
				if (isAtFault && (isRepeated || !(error instanceof GitKilled))) throw error;
			}
		}
	}

	/**
	 * Replaces the process: git does not read again what it has found to be broken, and keeps packs open that a repack has
	 * removed. Reads that wait are still answered.
	 */
	renew(): void {
		void this.#process?.close();
		this.#process = null;
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

	#start(): GitProcess<GitObject | null> {
		if (this.#reads >= this.#maxReads) this.renew();
		if (!this.#process) {
			this.#reads = 0;
			this.#process = new GitProcess(this.#repository, ["cat-file", "--batch"], objectAt, this.#silenceMs);
		}
		this.#reads += 1;
		return this.#process;
	}
}

/** Size of each object that the repository has, in bytes, without reading any of them. */
export async function readSizes(
	repository: string,
	ids: Iterable<string>,
): Promise<ReadonlyMap<string, number>> {
	const unique = [...new Set(ids)];
	if (unique.length === 0) return new Map();
	const input = `${unique.join("\n")}\n`;
	const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
	const output = await runGit(repository, args, { input });
	const lines = output.toString("latin1").split("\n").filter(Boolean);
	// `<id> missing` has no size.
	const sizes = lines.map((line) => line.split(" ")).map(([id = "", size]) => [id, Number(size)] as const);
	return new Map(sizes.filter(([, size]) => Number.isInteger(size)));
}

/**
 * Objects of one type by their ids, in that order, in portions as they come. For many it takes a fraction of what asking
 * for one after the other takes: git answers in long writes (`git cat-file --batch --buffer`).
 * @throws {GitFailure} where the repository does not have one of them, or git ends early
 */
export async function* readObjects(
	repository: string,
	type: "blob" | "commit",
	ids: readonly string[],
): AsyncGenerator<GitObject[]> {
	if (ids.length === 0) return;
	const answers = new Answers(objectAt);
	let given = 0;
	const input = `${ids.join("\n")}\n`;
	for await (const data of gitOutput(repository, ["cat-file", "--batch", "--buffer"], { input })) {
		const objects = answers.take(data).map((object) => {
			if (object?.type !== type) throw new GitDamage(`object ${ids[given]} is missing, or no ${type}`);
			given += 1;
			return object;
		});
		if (objects.length > 0) yield objects;
	}
}
