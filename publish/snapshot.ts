import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { ifThereSync } from "../files/if-there.ts";
import type { Log } from "../store/log.ts";
import { type Entry, entriesIn, type Row } from "./entry.ts";
import { nextTurn } from "./slices.ts";
import type { Changes, Table } from "./table.ts";

/** What a snapshot was made from. A snapshot is used only if the renderer is the same. */
export interface SnapshotSource {
	commit: string;
	renderer: string;
}

interface Head extends SnapshotSource {
	format: 3;
}

/** The line before the bytes of some layers. */
interface Portion {
	layers: Row[];
	/** The length of the bytes after this line. */
	bytes: number;
}

const layersInPortion = 500;

/**
 * Writes a table into a file for the next process, atomically. The file has the state of one commit, even if the table
 * changes meanwhile: a table replaces its entries, and never modifies one.
 */
export async function saveSnapshot(path: string, table: Table, source: SnapshotSource): Promise<void> {
	const temporary = `${path}.tmp`;
	try {
		await writeFile(temporary, partsOf([...table.entries], source), { mode: 0o600 });
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
	await rename(temporary, path);
}

async function* partsOf(layers: readonly [string, Entry][], source: SnapshotSource): AsyncGenerator<Buffer> {
	const hash = createHash("sha256");
	const hashed = (part: Buffer) => {
		hash.update(part);
		return part;
	};
	const head: Head = { format: 3, ...source };
	yield hashed(lineOf(head));
	for (let start = 0; start < layers.length; start += layersInPortion) {
		const some = layers.slice(start, start + layersInPortion);
		const bytes = Buffer.concat(some.map(([, entry]) => entry.bytes));
		const rows = some.map(([smallkey, { ends, rank }]): Row => [smallkey, ends, rank]);
		const portion: Portion = { layers: rows, bytes: bytes.length };
		yield hashed(lineOf(portion));
		yield hashed(bytes);
		await nextTurn();
	}
	yield Buffer.from(`${hash.digest("hex")}\n`);
}

function lineOf(value: object): Buffer {
	return Buffer.from(`${JSON.stringify(value)}\n`);
}

/**
 * Reads a snapshot that `saveSnapshot` wrote. To be called before anything is served: it blocks the event loop.
 * @returns null if there is no complete snapshot, or another renderer made it
 * @throws {Error} with the path if the file exists and cannot be read
 */
export function loadSnapshot(
	path: string,
	renderer: string,
	log: Log,
): { changes: Changes; commit: string } | null {
	const file = ifThereSync(path, () => readFileSync(path));
	if (!file) return null;
	const end = file.length - checksumLength;
	if (!isWhole(file, end)) {
		log.warn(`${path} is not whole, or of another version, and not used: all layers are read again`);
		return null;
	}
	const [head, start] = readLine(file, 0) as [Head, number];
	if (head.format !== 3 || head.renderer !== renderer) return null;
	const changes = new Map<string, Entry>();
	for (let offset = start; offset < end; ) {
		const [portion, bytesStart] = readLine(file, offset) as [Portion, number];
		offset = bytesStart + portion.bytes;
		for (const [smallkey, entry] of entriesIn(file.subarray(bytesStart, offset), portion.layers, false)) {
			changes.set(smallkey, entry);
		}
	}
	return { changes, commit: head.commit };
}

/** Length of the last line in bytes: SHA-256 in hex, and a line break. */
const checksumLength = 65;

function isWhole(file: Buffer, end: number): boolean {
	if (end <= 0) return false;
	const checksum = createHash("sha256").update(file.subarray(0, end)).digest("hex");
	return file.toString("latin1", end) === `${checksum}\n`;
}

function readLine(file: Buffer, start: number): [value: unknown, next: number] {
	const end = file.indexOf(0x0a, start);
	return [JSON.parse(file.toString("utf8", start, end)), end + 1];
}
