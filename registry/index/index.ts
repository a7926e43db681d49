import { type Entry, type Name, nameOf, numberedText, numberOf, termsOf } from "./entry.ts";
import {
	countedFacets,
	type Details,
	detailsOf,
	detailsText,
	entryFrom,
	type FacetCount,
	facets,
	keys,
	layers,
	names,
	nameText,
} from "./kinds.ts";
import { orderedText } from "./ordered.ts";
import { buildSet, type Files, indexVersion, parseObject, shapePath, sortThings } from "./set.ts";
import { IndexBroken, type ReadFile, SetUpdate } from "./set-update.ts";
import { splitsPath } from "./splits.ts";
import { allLines, terms } from "./terms.ts";
import { TermsUpdate } from "./terms-update.ts";

/** The file that says what else there is. */
export const indexPath = "index/index.json";

/** The content of `index/index.json`. */
export interface IndexHead {
	version: number;
	/** Number of layers. */
	layers: number;
	/** Set → the file that says how it is cut; its pieces are in the folder of the same name. */
	sets: Record<string, string>;
	/** The file that says which terms many layers have. */
	frequent: string;
}

function headText(count: number): string {
	const sets = Object.fromEntries(
		[names, layers, keys, terms, facets].map((kind) => [kind.folder.replace("index/", ""), shapePath(kind)]),
	);
	const head: IndexHead = { version: indexVersion, layers: count, sets, frequent: splitsPath };
	return `${JSON.stringify(head)}\n`;
}

/** All files of the index, by path. @param entries in any order, each smallkey once */
export function buildIndex(entries: readonly Entry[]): Files {
	const sorted = [...entries].map((entry) => [numberedText(entry.smallkey), entry] as const);
	sorted.sort(([a], [b]) => (a < b ? -1 : 1));
	const inOrder = sorted.map(([, entry]) => entry);
	const counts = new Map<string, number>();
	for (const entry of inOrder)
		for (const facet of countedFacets(entry)) counts.set(facet, (counts.get(facet) ?? 0) + 1);
	const counted = [...counts].map(([facet, count]): FacetCount => ({ facet, count }));
	const { lines, splits } = allLines(numbersByTerm(inOrder));
	return new Map([
		[indexPath, headText(entries.length)],
		...buildSet(layers, inOrder.map(detailsOf)),
		...buildSet(names, inOrder.map(nameOf)),
		...buildSet(keys, sortThings(keys, inOrder.map(keyOf))),
		...buildSet(terms, lines),
		[splitsPath, splits.write()],
		...buildSet(facets, sortThings(facets, counted)),
	]);
}

/** A smallkey as `index/keys/` has it. */
function keyOf({ smallkey }: { smallkey: string }): string {
	return smallkey.toLowerCase();
}

/** Term → numbers of the layers that have it, sorted, each once. @param sorted by number */
function numbersByTerm(sorted: readonly Entry[]): Map<string, string[]> {
	const numbers = new Map<string, string[]>();
	for (const entry of sorted) {
		const number = numberOf(entry.smallkey);
		for (const term of termsOf(nameOf(entry))) {
			const known = numbers.get(term);
			if (!known) numbers.set(term, [number]);
			else if (known.at(-1) !== number) known.push(number);
		}
	}
	return numbers;
}

/** Looks up layers in the files of an index. */
export class EntryReader {
	readonly #names: SetUpdate<Name>;
	readonly #layers: SetUpdate<Details>;

	constructor(read: ReadFile, ofNames = new SetUpdate(names, read), ofLayers = new SetUpdate(layers, read)) {
		this.#names = ofNames;
		this.#layers = ofLayers;
	}

	/** What the index says of the layers of a number. @throws {IndexBroken} where its files do not fit together */
	find(number: string): Entry[] {
		const found = this.#names.find(number);
		if (found.length === 0) return [];
		const details = new Map(this.#layers.find(number).map((one) => [one.smallkey, one]));
		return found.map((name) => {
			const known = details.get(name.smallkey);
			if (!known) throw new IndexBroken(`${layers.folder}/: has nothing of ${name.smallkey}`);
			return entryFrom(name, known);
		});
	}
}

/** Changed layers by smallkey; null for one that is gone. */
export type EntryChanges = ReadonlyMap<string, Entry | null>;

/**
 * The files of the index that differ after some layers have changed; the same ones come out as in a whole build.
 * @param read the files as they are
 * @throws {IndexBroken} where they are not an index of this version: it has to be built
 */
export function updateIndex(read: ReadFile, changes: EntryChanges): Files {
	return new IndexUpdate(read).files(changes);
}

/** An index that is there, to look up layers in, and then once to change some. No file is read twice. */
export class IndexUpdate {
	readonly #read: ReadFile;
	readonly #known: EntryReader;
	readonly #layers: SetUpdate<Details>;
	readonly #names: SetUpdate<Name>;
	readonly #keys: SetUpdate<string>;
	readonly #terms: TermsUpdate;
	readonly #facets: SetUpdate<FacetCount>;
	readonly #counts = new Map<string, number>();

	/** @param read the files as they are */
	constructor(read: ReadFile) {
		this.#read = read;
		this.#layers = new SetUpdate(layers, read);
		this.#names = new SetUpdate(names, read);
		this.#known = new EntryReader(read, this.#names, this.#layers);
		this.#keys = new SetUpdate(keys, read);
		this.#terms = new TermsUpdate(read);
		this.#facets = new SetUpdate(facets, read);
	}

	/** What the index says of the layers of a number, before any change. @throws {IndexBroken} */
	find(number: string): Entry[] {
		return this.#known.find(number);
	}

	/** The files that differ after changes. @throws {IndexBroken} where they are not an index of this version */
	files(changes: EntryChanges): Files {
		const head = parseObject(this.#read(indexPath) ?? "");
		if (head?.version !== indexVersion || typeof head.layers !== "number") {
			throw new IndexBroken(`${indexPath}: is not there or of another version`);
		}
		const added = this.#take(changes);
		const files = this.#changedFiles();
		if (added !== 0) files.set(indexPath, headText(head.layers + added));
		return files;
	}

	/** How many layers there are more afterwards. */
	#take(changes: EntryChanges): number {
		let added = 0;
		const byNumber = new Map<string, Map<string, Entry | null>>();
		for (const [smallkey, entry] of changes) {
			const number = numberOf(smallkey);
			const group = byNumber.get(number) ?? new Map<string, Entry | null>();
			byNumber.set(number, group.set(smallkey, entry));
		}
		for (const [number, group] of byNumber) added += this.#takeNumber(number, group);
		return added;
	}

	/** Layers of one number change together: a term stays while any of them has it. */
	#takeNumber(number: string, group: Map<string, Entry | null>): number {
		const before = this.#known.find(number);
		const known = new Map(before.map((entry) => [entry.smallkey, entry]));
		const after = new Map(known);
		for (const [smallkey, entry] of group) {
			this.#takeLayer(known.get(smallkey) ?? null, smallkey, entry);
			if (entry) after.set(smallkey, entry);
			else after.delete(smallkey);
		}
		const old = termsOfAll(before);
		const fresh = termsOfAll(after.values());
		for (const term of old) if (!fresh.has(term)) this.#terms.set(term, number, false);
		for (const term of fresh) if (!old.has(term)) this.#terms.set(term, number, true);
		return after.size - before.length;
	}

	#takeLayer(before: Entry | null, smallkey: string, entry: Entry | null): void {
		for (const facet of before ? countedFacets(before) : []) this.#count(facet, -1);
		for (const facet of entry ? countedFacets(entry) : []) this.#count(facet, 1);
		const text = numberedText(smallkey);
		if (!entry) {
			this.#layers.remove(text);
			this.#names.remove(text);
			// The spelling that comes in place of another one has its key.
			if (before) this.#keys.remove(orderedText(keyOf(before)));
			return;
		}
		const details = detailsOf(entry);
		if (!before || detailsText(detailsOf(before)) !== detailsText(details)) this.#layers.put(details);
		const name = nameOf(entry);
		if (!before || nameText(nameOf(before)) !== nameText(name)) this.#names.put(name);
		if (!before) this.#keys.put(keyOf(entry));
	}

	#count(facet: string, more: number): void {
		this.#counts.set(facet, (this.#counts.get(facet) ?? 0) + more);
	}

	#changedFiles(): Files {
		for (const [facet, more] of this.#counts) {
			if (more === 0) continue;
			const text = orderedText(facet);
			const count = (this.#facets.get(text)?.count ?? 0) + more;
			if (count > 0) this.#facets.put({ facet, count });
			else this.#facets.remove(text);
		}
		return new Map([
			...this.#layers.files(),
			...this.#names.files(),
			...this.#keys.files(),
			...this.#terms.files(),
			...this.#facets.files(),
		]);
	}
}

function termsOfAll(entries: Iterable<Entry>): Set<string> {
	const all = new Set<string>();
	for (const entry of entries) for (const term of termsOf(nameOf(entry))) all.add(term);
	return all;
}
