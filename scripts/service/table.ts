import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { etagOf, type Fragment } from "../../api/read.ts";
import type { Lang } from "../../registry/smallkey.ts";

/** The two fragments of one layer: a run of bytes, English first. */
interface Entry {
	bytes: Buffer;
	start: number;
	middle: number;
	end: number;
	/** Entity tags, made when first asked for. */
	enTag: string | null;
	frTag: string | null;
}

/** What a table was made from: it is taken from a file only where this is the same. */
export interface TableSource {
	/** The commit whose layers it holds. */
	commit: string;
	/** Stamp of the renderer. */
	renderer: string;
}

interface Header extends TableSource {
	/** Smallkey, bytes of the English and of the French fragment, for each layer in turn. */
	index: (string | number)[];
	bytes: number;
}

/** The fragments of all layers in memory: a few long runs of bytes, not an object for each. */
export class FragmentTable {
	readonly #entries = new Map<string, Entry>();
	#changes = 0;

	/** Number of changes of any fragment. */
	get changes(): number {
		return this.#changes;
	}

	/** The fragment of a language and smallkey, or null. */
	find(lang: Lang, smallkey: string): Fragment | null {
		const entry = this.#entries.get(smallkey);
		return entry ? fragmentOf(entry, lang) : null;
	}

	get size(): number {
		return this.#entries.size;
	}

	/** Every smallkey, in no order. */
	smallkeys(): IterableIterator<string> {
		return this.#entries.keys();
	}

	has(smallkey: string): boolean {
		return this.#entries.has(smallkey);
	}

	/** Keeps the fragments of a layer; the languages in which they are new. */
	set(smallkey: string, texts: Record<Lang, string>): Lang[] {
		const before = this.#entries.get(smallkey);
		const bytes = Buffer.from(texts.en + texts.fr);
		const middle = Buffer.byteLength(texts.en);
		const entry = { bytes, start: 0, middle, end: bytes.length, enTag: null, frTag: null };
		const changed = (["en", "fr"] as const).filter(
			(lang) => !before || !bodyOf(before, lang).equals(bodyOf(entry, lang)),
		);
		if (changed.length > 0) {
			this.#entries.set(smallkey, entry);
			this.#changes += 1;
		}
		return changed;
	}

	delete(smallkey: string): void {
		if (this.#entries.delete(smallkey)) this.#changes += 1;
	}

	/** Writes everything to one file, whole or not at all. */
	save(path: string, source: TableSource): void {
		const index: (string | number)[] = [];
		const runs: Buffer[] = [];
		let bytes = 0;
		for (const [smallkey, entry] of this.#entries) {
			index.push(smallkey, entry.middle - entry.start, entry.end - entry.middle);
			runs.push(entry.bytes.subarray(entry.start, entry.end));
			bytes += entry.end - entry.start;
		}
		const header: Header = { ...source, index, bytes };
		const temporary = `${path}.tmp`;
		writeFileSync(temporary, Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...runs]));
		renameSync(temporary, path);
	}

	/** Reads what `save` wrote; null where there is nothing whole, or it is another renderer's. */
	static load(path: string, renderer: string): { table: FragmentTable; commit: string } | null {
		const file = readIfThere(path);
		const end = file?.indexOf(0x0a) ?? -1;
		if (!file || end < 0) return null;
		const header = parseHeader(file.toString("utf8", 0, end));
		if (header?.renderer !== renderer || file.length !== end + 1 + header.bytes) return null;
		const table = new FragmentTable();
		let start = end + 1;
		for (let item = 0; item < header.index.length; item += 3) {
			const middle = start + (header.index[item + 1] as number);
			const stop = middle + (header.index[item + 2] as number);
			table.#entries.set(header.index[item] as string, {
				bytes: file,
				start,
				middle,
				end: stop,
				enTag: null,
				frTag: null,
			});
			start = stop;
		}
		return { table, commit: header.commit };
	}
}

function bodyOf(entry: Entry, lang: Lang): Buffer {
	return lang === "en"
		? entry.bytes.subarray(entry.start, entry.middle)
		: entry.bytes.subarray(entry.middle, entry.end);
}

function fragmentOf(entry: Entry, lang: Lang): Fragment {
	const body = bodyOf(entry, lang);
	const tag = lang === "en" ? "enTag" : "frTag";
	entry[tag] ??= etagOf(body);
	return { body, etag: entry[tag] };
}

function readIfThere(path: string): Buffer | null {
	try {
		return readFileSync(path);
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
}

function parseHeader(text: string): Header | null {
	try {
		return JSON.parse(text) as Header;
	} catch {
		return null;
	}
}
