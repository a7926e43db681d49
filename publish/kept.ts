import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { bytesOf, type Entry, entriesIn, lengthsOf, type Row, rankOf } from "./entry.ts";
import { nextTurn } from "./slices.ts";
import type { Changes, Table } from "./table.ts";

/** What a kept table was made from: it is taken from its file only where the renderer is the same. */
export interface TableSource {
	/** The commit whose layers it holds. */
	commit: string;
	/** Stamp of the renderer. */
	renderer: string;
}

/** The first line of the file. */
interface Head extends TableSource {
	format: 2;
}

/** A line before a run of bytes: the layers in it. */
interface Portion {
	layers: Row[];
	bytes: number;
}

/** Layers in one run of bytes. */
const layersInPortion = 500;

/**
 * Keeps a table in a file for the next process, whole or not at all. What is written is of one commit, although the
 * table may change meanwhile: entries are replaced there, never changed.
 */
export async function saveTable(path: string, table: Table, source: TableSource): Promise<void> {
	const layers = [...table.entries()];
	const temporary = `${path}.tmp`;
	const file = await open(temporary, "w", 0o600);
	try {
		const writer = new Writer(file);
		const head: Head = { format: 2, ...source };
		await writer.line(head);
		let portion: [string, Entry][] = [];
		for (const layer of layers) {
			portion.push(layer);
			if (portion.length < layersInPortion) continue;
			await writer.portion(portion);
			portion = [];
		}
		if (portion.length > 0) await writer.portion(portion);
		await writer.end();
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	} finally {
		await file.close();
	}
	await rename(temporary, path);
}

class Writer {
	readonly #file: FileHandle;
	readonly #hash = createHash("sha256");

	constructor(file: FileHandle) {
		this.#file = file;
	}

	async line(value: object): Promise<void> {
		await this.#write(Buffer.from(`${JSON.stringify(value)}\n`));
	}

	async portion(layers: [string, Entry][]): Promise<void> {
		const bytes = Buffer.concat(layers.map(([, entry]) => bytesOf(entry)));
		const line: Portion = {
			layers: layers.map(([smallkey, entry]) => [smallkey, lengthsOf(entry), rankOf(entry)]),
			bytes: bytes.length,
		};
		await this.line(line);
		await this.#write(bytes);
		await nextTurn();
	}

	/** Ends with the checksum of all that stands before it. */
	async end(): Promise<void> {
		await this.#file.writeFile(`${this.#hash.copy().digest("hex")}\n`);
	}

	async #write(bytes: Buffer): Promise<void> {
		this.#hash.update(bytes);
		// `write` may write less than all.
		await this.#file.writeFile(bytes);
	}
}

/** A table of an earlier process, and the commit that it is of. */
export interface KeptTable {
	changes: Changes;
	commit: string;
}

/**
 * Reads what `saveTable` wrote. To be called before anything is served: it holds the event loop.
 * @param warn told where the file cannot be used
 * @returns null where there is nothing whole, or it is another renderer's
 */
export function loadTable(path: string, renderer: string, warn: (text: string) => void): KeptTable | null {
	const file = readIfThere(path);
	if (!file) return null;
	if (!isWhole(file)) {
		warn(`${path} is not whole, or of another version, and not used: all layers are read anew`);
		return null;
	}
	const [head, start] = readLine(file, 0) as [Head, number];
	if (head.format !== 2 || head.renderer !== renderer) return null;
	const changes = new Map<string, Entry>();
	const end = file.length - checksumLength;
	for (let offset = start; offset < end; ) {
		const [portion, bytesStart] = readLine(file, offset) as [Portion, number];
		offset = bytesStart + portion.bytes;
		for (const [smallkey, entry] of entriesIn(file.subarray(bytesStart, offset), portion.layers)) {
			changes.set(smallkey, entry);
		}
	}
	return { changes, commit: head.commit };
}

/** Length of the last line: SHA-256 in hex, and a line break. */
const checksumLength = 65;

function isWhole(file: Buffer): boolean {
	if (file.length <= checksumLength) return false;
	const end = file.length - checksumLength;
	const checksum = createHash("sha256").update(file.subarray(0, end)).digest("hex");
	return file.toString("latin1", end) === `${checksum}\n`;
}

function readLine(file: Buffer, start: number): [value: unknown, next: number] {
	const end = file.indexOf(0x0a, start);
	return [JSON.parse(file.toString("utf8", start, end)), end + 1];
}

function readIfThere(path: string): Buffer | null {
	try {
		return readFileSync(path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
}
