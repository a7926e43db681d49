import { close, fdatasync, open, write } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SyncPath } from "../../git/sync.ts";

// Not those of FileHandle, which cost twice as much.
const openFile = promisify(open);
const writeBytes = promisify(write);
const syncData = promisify(fdatasync);
const closeFile = promisify(close);

/** A file of a journal: `000017.log`. */
const fileName = /^\d{6,}\.log$/;

/** A file that is added to, or that may not be on the disk. */
interface Part {
	name: string;
	/** Lines that the system has not got yet. */
	lines: string[];
	/** Null: it was not opened yet. */
	descriptor: number | null;
	/** Whether the last line may be cut off. */
	isTorn: boolean;
	/** Whether something was written that may not be on the disk. */
	isDirty: boolean;
	/** Whether its name is on the disk. */
	isNamed: boolean;
}

/**
 * Lines that are only ever added, in numbered files of one folder. Old files go as a whole: nothing is written anew,
 * and a line that was cut off by a power cut spoils no other.
 */
export class Journal {
	readonly #folder: string;
	readonly #sync: SyncPath;
	#number: number;
	/** Bytes of the lines of the last part. */
	#bytes = 0;
	/** The part that lines are added to is the last one. */
	readonly #parts: Part[];
	readonly #removing = new Set<Promise<void>>();
	#running: Promise<void> = Promise.resolve();
	#next: Promise<void> | null = null;

	private constructor(folder: string, sync: SyncPath, number: number) {
		this.#folder = folder;
		this.#sync = sync;
		this.#number = number;
		this.#parts = [partOf(number)];
	}

	/** Opens a journal, made where there is none; `take` is given the lines of each file, oldest first. */
	static async open(
		folder: string,
		sync: SyncPath,
		take: (file: string, lines: string[]) => void,
	): Promise<Journal> {
		await mkdir(folder, { recursive: true });
		const files = (await readdir(folder)).filter((name) => fileName.test(name)).sort(byNumber);
		for (const file of files) {
			const text = await readIfThere(join(folder, file));
			if (text !== null) take(file, text.split("\n"));
		}
		return new Journal(folder, sync, numberOf(files.at(-1) ?? "") + 1);
	}

	/** Name of the file that is written, and its size in bytes. */
	get file(): string {
		return nameOf(this.#number);
	}

	get bytes(): number {
		return this.#bytes;
	}

	/** Adds lines, which are written with the next `sync`. */
	append(lines: readonly string[]): void {
		this.#parts.at(-1)?.lines.push(...lines);
		for (const line of lines) this.#bytes += line.length + 1;
	}

	/**
	 * Puts everything on the disk that was added before. Calls that come together share one turn.
	 * @throws {Error} where the disk is full, for example; what was added is written with the next `sync`
	 */
	sync(): Promise<void> {
		this.#next ??= this.#running
			.catch(() => undefined)
			.then(() => {
				this.#next = null;
				this.#running = this.#syncNow();
				return this.#running;
			});
		return this.#next;
	}

	/** Goes on with another file. */
	rotate(): void {
		this.#number += 1;
		this.#parts.push(partOf(this.#number));
		this.#bytes = 0;
	}

	/** Removes a file that is not the one that is written. */
	remove(file: string): Promise<void> {
		const removing = rm(join(this.#folder, file), { force: true });
		this.#removing.add(removing);
		return removing.finally(() => this.#removing.delete(removing));
	}

	async close(): Promise<void> {
		await this.sync();
		// Whoever opens the folder next must not meet a file on its way out.
		await Promise.allSettled(this.#removing);
		const last = this.#parts.at(-1);
		if (last) await closePart(last);
	}

	async #syncNow(): Promise<void> {
		for (let part = this.#parts[0]; part; part = this.#parts[0]) {
			await this.#write(part);
			if (part.isDirty) await this.#syncPart(part);
			// Others may have come behind it meanwhile.
			if (this.#parts.length === 1) return;
			await closePart(part);
			this.#parts.shift();
		}
	}

	/** Hands a part's lines to the system: off the event loop, since whoever writes may have to wait for the disk. */
	async #write(part: Part): Promise<void> {
		const lines = part.lines.splice(0);
		if (lines.length === 0) return;
		const bytes = Buffer.from(`${part.isTorn ? "\n" : ""}${lines.join("\n")}\n`, "latin1");
		try {
			part.descriptor ??= await openFile(join(this.#folder, part.name), "a", 0o600);
			part.isTorn = true;
			part.isDirty = true;
			for (let offset = 0; offset < bytes.length; ) {
				const { bytesWritten } = await writeBytes(part.descriptor, bytes, offset);
				offset += bytesWritten;
			}
		} catch (error) {
			// The next turn writes them again: it must not succeed without them.
			part.lines.unshift(...lines);
			throw error;
		}
		part.isTorn = false;
	}

	async #syncPart(part: Part): Promise<void> {
		part.isDirty = false;
		try {
			if (part.descriptor !== null) await syncData(part.descriptor);
			if (!part.isNamed) await this.#sync(this.#folder);
			part.isNamed = true;
		} catch (error) {
			part.isDirty = true;
			throw error;
		}
	}
}

function partOf(number: number): Part {
	const name = nameOf(number);
	return { name, lines: [], descriptor: null, isTorn: false, isDirty: false, isNamed: false };
}

async function closePart(part: Part): Promise<void> {
	if (part.descriptor !== null) await closeFile(part.descriptor);
	part.descriptor = null;
}

function nameOf(number: number): string {
	return `${String(number).padStart(6, "0")}.log`;
}

/** What an ended process was about to remove may go between the look at the folder and this. */
async function readIfThere(path: string): Promise<string | null> {
	return readFile(path, "latin1").catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw error;
	});
}

function numberOf(file: string): number {
	return Number.parseInt(file, 10) || 0;
}

function byNumber(a: string, b: string): number {
	return numberOf(a) - numberOf(b);
}
