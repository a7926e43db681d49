import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SyncPath } from "../../git/sync.ts";

const syncData = promisify(fdatasync);

/** A file of a journal: `000017.log`. */
const fileName = /^\d{6,}\.log$/;

/**
 * Lines that are only ever added, in numbered files of one folder. Old files go as a whole: nothing is written anew,
 * and a line that was cut off by a power cut spoils no other.
 */
export class Journal {
	readonly #folder: string;
	readonly #sync: SyncPath;
	#number: number;
	#file: number | null = null;
	/** Files that others go on from, and that may not be on the disk. */
	#finished: number[] = [];
	/** Bytes in the file that is written. */
	#bytes = 0;
	/** Whether the last line may be cut off. */
	#isTorn = false;
	/** Whether something was added that may not be on the disk. */
	#isDirty = false;
	/** The file whose name is on the disk. */
	#named = "";
	readonly #removing = new Set<Promise<void>>();
	#running: Promise<void> = Promise.resolve();
	#next: Promise<void> | null = null;

	private constructor(folder: string, sync: SyncPath, number: number) {
		this.#folder = folder;
		this.#sync = sync;
		this.#number = number;
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
		return `${String(this.#number).padStart(6, "0")}.log`;
	}

	get bytes(): number {
		return this.#bytes;
	}

	/** Hands lines to the system: whoever kills this process after that has not lost them. @throws {Error} on a full disk */
	append(lines: readonly string[]): void {
		if (lines.length === 0) return;
		const bytes = Buffer.from(`${this.#isTorn ? "\n" : ""}${lines.join("\n")}\n`, "latin1");
		this.#file ??= openSync(join(this.#folder, this.file), "a", 0o600);
		this.#isTorn = true;
		this.#isDirty = true;
		for (let offset = 0; offset < bytes.length; ) {
			const written = writeSync(this.#file, bytes, offset);
			offset += written;
			this.#bytes += written;
		}
		this.#isTorn = false;
	}

	/** Puts everything on the disk that was added before. Calls that come together share one turn. */
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
		if (this.#file !== null) this.#finished.push(this.#file);
		this.#file = null;
		this.#number += 1;
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
		if (this.#file !== null) closeSync(this.#file);
		this.#file = null;
	}

	async #syncNow(): Promise<void> {
		for (let file = this.#finished[0]; file !== undefined; file = this.#finished[0]) {
			await syncData(file);
			closeSync(file);
			this.#finished.shift();
		}
		if (!this.#isDirty || this.#file === null) return;
		this.#isDirty = false;
		const { file } = this;
		try {
			await syncData(this.#file);
			if (this.#named !== file) await this.#sync(this.#folder);
			this.#named = file;
		} catch (error) {
			this.#isDirty = true;
			throw error;
		}
	}
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
