import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Fragments } from "../registry/fragment.ts";
import { ifThereSync } from "../store/files/if-there.ts";
import type { Log } from "../store/log.ts";
import { fragmentOf, isSame, pack, type RenderedLayer, type Row, renderedIn, type Slot } from "./rendered.ts";
import { eachInSlices } from "./slices.ts";

/** The changes of one commit: smallkey → its fragments, or null if the layer is removed. */
type Changes = ReadonlyMap<string, RenderedLayer | null>;

/** Most changes that are applied without a pause. */
const maxAtOnce = 1_000;

/** The table of what is served: smallkey → fragments, all of one commit. */
export class Table {
	/** `v0.9/en` → its position among the slots. */
	readonly #positions: ReadonlyMap<string, number>;
	#entries = new Map<string, RenderedLayer>();
	#version = 0;

	constructor(slots: readonly Slot[]) {
		this.#positions = new Map(slots.map(({ target, lang }, position) => [`${target}/${lang}`, position]));
	}

	readonly find: Fragments = (target, lang, smallkey) => {
		const entry = this.#entries.get(smallkey);
		const slot = this.#positions.get(`${target}/${lang}`);
		return entry && slot !== undefined ? fragmentOf(entry, slot) : null;
	};

	readonly version = (): number => this.#version;

	get entries(): ReadonlyMap<string, RenderedLayer> {
		return this.#entries;
	}

	get size(): number {
		return this.#entries.size;
	}

	smallkeys(): IterableIterator<string> {
		return this.#entries.keys();
	}

	/**
	 * Applies the changes of a commit. Readers get all of them or none. Calls must not overlap.
	 * @returns the smallkeys whose fragments changed
	 */
	async change(changes: Changes): Promise<string[]> {
		const changed: string[] = [];
		await eachInSlices(changes, ([smallkey, entry]) => {
			if (!isSame(this.#entries.get(smallkey), entry)) changed.push(smallkey);
		});
		const apply = (entries: Map<string, RenderedLayer>) => (smallkey: string) => {
			const entry = changes.get(smallkey);
			if (entry) entries.set(smallkey, entry);
			else entries.delete(smallkey);
		};
		if (changed.length <= maxAtOnce) changed.forEach(apply(this.#entries));
		else {
			// A copy, which readers get once it is complete: row `push-delay` of `npm run bench`.
			const entries = new Map(this.#entries);
			await eachInSlices(changed, apply(entries));
			this.#entries = entries;
		}
		if (changed.length > 0) this.#version += 1;
		return changed;
	}
}

/** What a snapshot was made from: its first line. A snapshot is used only if the renderer is the same. */
interface SnapshotSource {
	commit: string;
	renderer: string;
}

/** The line before the bytes of some layers, with the number of these bytes. */
interface Portion {
	layers: Row[];
	length: number;
}

const layersInPortion = 500;

/**
 * Writes a table into a file for the next process, atomically. The file has the state of one commit, even if the table
 * changes meanwhile: a table replaces a rendered layer, and never modifies one.
 */
export async function saveSnapshot(path: string, table: Table, source: SnapshotSource): Promise<void> {
	const temporary = `${path}.tmp`;
	try {
		await writeFile(temporary, partsOf([...table.entries], source), { mode: 0o600 });
		await rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true });
		throw error;
	}
}

async function* partsOf(entries: readonly [string, RenderedLayer][], source: SnapshotSource) {
	const hash = createHash("sha256");
	const lineOf = (value: SnapshotSource | Portion) => `${JSON.stringify(value)}\n`;
	const hashed = <T extends string | Uint8Array>(part: T): T => {
		hash.update(part);
		return part;
	};
	yield hashed(lineOf(source));
	for (let start = 0; start < entries.length; start += layersInPortion) {
		const { layers, bytes } = pack(entries.slice(start, start + layersInPortion));
		yield hashed(lineOf({ layers, length: bytes.length }));
		yield hashed(bytes);
		await nextTurn();
	}
	yield `${hash.digest("hex")}\n`;
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
		log.warn(`${path} is of another version, or not whole: all layers are read again, and nothing is lost`);
		return null;
	}
	const [source, start] = readLine<SnapshotSource>(file, 0);
	if (source.renderer !== renderer) return null;
	const changes = new Map<string, RenderedLayer>();
	for (let offset = start; offset < end; ) {
		const [portion, bytesStart] = readLine<Portion>(file, offset);
		offset = bytesStart + portion.length;
		for (const [smallkey, entry] of renderedIn(file.subarray(bytesStart, offset), portion.layers)) {
			changes.set(smallkey, entry);
		}
	}
	return { changes, commit: source.commit };
}

/** Length of the last line in bytes: SHA-256 in hex, and a line break. */
const checksumLength = 65;

function isWhole(file: Buffer, end: number): boolean {
	if (end <= 0) return false;
	const checksum = createHash("sha256").update(file.subarray(0, end)).digest("hex");
	return file.toString("latin1", end) === `${checksum}\n`;
}

function readLine<T>(file: Buffer, start: number): [value: T, next: number] {
	const end = file.indexOf(0x0a, start);
	return [JSON.parse(file.toString("utf8", start, end)), end + 1];
}
