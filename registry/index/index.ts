import { type Entry, nameOf, numberedText, numberOf, termsOf } from "./entry.ts";
import {
	countedFacets,
	entryText,
	type FacetCount,
	facets,
	layers,
	names,
	type Posting,
	terms,
} from "./kinds.ts";
import { orderedText } from "./ordered.ts";
import { buildSet, type Files, indexVersion, parseObject, shapePath, sortThings } from "./set.ts";
import { IndexBroken, type ReadFile, SetUpdate } from "./set-update.ts";

/** The file that says what else there is. */
export const indexPath = "index/index.json";

/** The content of `index/index.json`. */
export interface IndexHead {
	version: number;
	/** Number of layers. */
	layers: number;
	/** Set → the file that says how it is cut; its pieces are in the folder of the same name. */
	sets: Record<string, string>;
}

function headText(count: number): string {
	const sets = Object.fromEntries(
		[names, layers, terms, facets].map((kind) => [kind.folder.replace("index/", ""), shapePath(kind)]),
	);
	return `${JSON.stringify({ version: indexVersion, layers: count, sets } satisfies IndexHead)}\n`;
}

/** All files of the index, by path. @param entries in any order, each smallkey once */
export function buildIndex(entries: readonly Entry[]): Files {
	const sorted = sortThings(layers, entries);
	const counts = new Map<string, number>();
	for (const entry of sorted)
		for (const facet of countedFacets(entry)) counts.set(facet, (counts.get(facet) ?? 0) + 1);
	const counted = [...counts].map(([facet, count]): FacetCount => ({ facet, count }));
	return new Map([
		[indexPath, headText(entries.length)],
		...buildSet(layers, sorted),
		...buildSet(names, sorted.map(nameOf)),
		...buildSet(terms, allPostings(sorted)),
		...buildSet(facets, sortThings(facets, counted)),
	]);
}

/** The postings of all layers, in order. @param sorted by number */
function allPostings(sorted: readonly Entry[]): Posting[] {
	const numbers = new Map<string, string[]>();
	for (const entry of sorted) {
		const number = numberOf(entry.smallkey);
		for (const term of termsOf(nameOf(entry))) {
			const known = numbers.get(term);
			if (!known) numbers.set(term, [number]);
			else if (known.at(-1) !== number) known.push(number);
		}
	}
	const ordered = [...numbers.keys()].map((term) => [orderedText(term), term] as const);
	ordered.sort(([a], [b]) => (a < b ? -1 : 1));
	const postings: Posting[] = [];
	for (const [, term] of ordered)
		for (const number of numbers.get(term) ?? []) postings.push({ term, number });
	return postings;
}

/** Changed layers by smallkey; null for one that is gone. */
export type EntryChanges = ReadonlyMap<string, Entry | null>;

/**
 * The files of the index that differ after some layers have changed; the same ones come out as in a whole build.
 * @param read the files as they are
 * @throws {IndexBroken} where they are not an index of this version: it has to be built
 */
export function updateIndex(read: ReadFile, changes: EntryChanges): Files {
	const head = parseObject(read(indexPath) ?? "");
	if (head?.version !== indexVersion || typeof head.layers !== "number") {
		throw new IndexBroken(`${indexPath}: is not there or of another version`);
	}
	const update = new IndexUpdate(read);
	const added = update.take(changes);
	const files = update.files();
	if (added !== 0) files.set(indexPath, headText(head.layers + added));
	return files;
}

class IndexUpdate {
	readonly #layers: SetUpdate<Entry>;
	readonly #names: SetUpdate<ReturnType<typeof nameOf>>;
	readonly #terms: SetUpdate<Posting>;
	readonly #facets: SetUpdate<FacetCount>;
	readonly #counts = new Map<string, number>();

	constructor(read: ReadFile) {
		this.#layers = new SetUpdate(layers, read);
		this.#names = new SetUpdate(names, read);
		this.#terms = new SetUpdate(terms, read);
		this.#facets = new SetUpdate(facets, read);
	}

	/** How many layers there are more afterwards. */
	take(changes: EntryChanges): number {
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
		const before = this.#layers.find(number);
		const known = new Map(before.map((entry) => [entry.smallkey, entry]));
		const after = new Map(known);
		for (const [smallkey, entry] of group) {
			this.#takeLayer(known.get(smallkey) ?? null, smallkey, entry);
			if (entry) after.set(smallkey, entry);
			else after.delete(smallkey);
		}
		const old = termsOfAll(before);
		const fresh = termsOfAll(after.values());
		for (const term of old) if (!fresh.has(term)) this.#terms.remove(orderedText(term) + number);
		for (const term of fresh) if (!old.has(term)) this.#terms.put({ term, number });
		return after.size - before.length;
	}

	#takeLayer(before: Entry | null, smallkey: string, entry: Entry | null): void {
		if (before && entry && entryText(before) === entryText(entry)) return;
		for (const facet of before ? countedFacets(before) : []) this.#count(facet, -1);
		for (const facet of entry ? countedFacets(entry) : []) this.#count(facet, 1);
		const text = numberedText(smallkey);
		if (!entry) {
			this.#layers.remove(text);
			this.#names.remove(text);
			return;
		}
		this.#layers.put(entry);
		const name = nameOf(entry);
		if (!before || JSON.stringify(nameOf(before)) !== JSON.stringify(name)) this.#names.put(name);
	}

	#count(facet: string, more: number): void {
		this.#counts.set(facet, (this.#counts.get(facet) ?? 0) + more);
	}

	files(): Files {
		for (const [facet, more] of this.#counts) {
			if (more === 0) continue;
			const text = orderedText(facet);
			const count = (this.#facets.find(text)[0]?.count ?? 0) + more;
			if (count > 0) this.#facets.put({ facet, count });
			else this.#facets.remove(text);
		}
		return new Map([
			...this.#layers.files(),
			...this.#names.files(),
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
