import { type Entry, facetsOf, type Name, nameOf, numberedText, numberLength } from "./entry.ts";
import { orderedText } from "./ordered.ts";
import type { Box } from "./place.ts";
import { byteLength, indexVersion, parseObject, type SetKind } from "./set.ts";

/** Most bytes of one file of the index. */
export const maxPieceBytes = 64_000;

/** What stands around the things of a piece, with room to spare. */
const frame = 200;

/** A piece: the version, and its things one a line, so that a change is one line of a diff. */
function writeLines(member: string, lines: string[]): string {
	return `{"version":${indexVersion},"${member}":[\n${lines.join(",\n")}\n]}\n`;
}

function readLines(member: string, text: string): unknown[] | null {
	const value = parseObject(text);
	if (value?.version !== indexVersion) return null;
	const things = value[member];
	return Array.isArray(things) ? things : null;
}

/** A name as a row: smallkey, type, titles, hosts, health, sender, extent; a French title only where it differs. */
type Row = [string, string, string, string | 0, string, string, string, Box | 0];

function rowOf({ smallkey, type, title, hosts, health, sender, extent }: Name): Row {
	const french = title.fr === title.en ? 0 : title.fr;
	return [smallkey, type, title.en, french, hosts.join(" "), health, sender, extent ?? 0];
}

function nameOfRow(row: unknown): Name {
	const [smallkey, type, en, fr, hosts, health, sender, extent] = row as Row;
	return {
		smallkey,
		type,
		title: { en, fr: fr === 0 ? en : fr },
		hosts: hosts.split(" ").filter(Boolean),
		health,
		sender,
		extent: extent === 0 ? null : extent,
	};
}

/** What search results show, by number: small pieces, since the hits of a search lie in many. */
export const names: SetKind<Name> = {
	folder: "index/names",
	ending: ".json",
	maxThings: 100,
	maxBytes: maxPieceBytes - frame,
	textOf: ({ smallkey }) => numberedText(smallkey),
	bytesOf: (name) => byteLength(JSON.stringify(rowOf(name))) + 2,
	write: (things) =>
		writeLines(
			"names",
			things.map((name) => JSON.stringify(rowOf(name))),
		),
	read: (text) => readLines("names", text)?.map(nameOfRow) ?? null,
};

/** Everything that the index says of a layer, by number. */
export const layers: SetKind<Entry> = {
	folder: "index/layers",
	ending: ".json",
	maxThings: 250,
	maxBytes: maxPieceBytes - frame,
	textOf: ({ smallkey }) => numberedText(smallkey),
	bytesOf: (entry) => byteLength(entryText(entry)) + 2,
	write: (things) => writeLines("layers", things.map(entryText)),
	read: (text) => readLines("layers", text) as Entry[] | null,
};

/** The texts of entries that are in use: each is looked at several times. */
const entryTexts = new WeakMap<Entry, string>();

/** An entry in the one order of its members: equal entries give equal texts. */
export function entryText(entry: Entry): string {
	const known = entryTexts.get(entry);
	if (known !== undefined) return known;
	const text = textOfEntry(entry);
	entryTexts.set(entry, text);
	return text;
}

function textOfEntry(entry: Entry): string {
	const { smallkey, type, title, host, sender, changed, health, extent, fragments } = entry;
	const targets = Object.keys(fragments).sort();
	return JSON.stringify({
		smallkey,
		type,
		title: { en: title.en, fr: title.fr },
		host: { en: host.en, fr: host.fr },
		sender,
		changed: changed && { commit: changed.commit, date: changed.date },
		health: health && { state: health.state, since: health.since },
		extent,
		fragments: Object.fromEntries(
			targets.map((target) => [target, { en: fragments[target]?.en, fr: fragments[target]?.fr }]),
		),
	});
}

/** One layer that has a term, by its number. */
export interface Posting {
	term: string;
	number: string;
}

/** Bytes around a term in a piece. */
const termFrame = 8;

/** Ordered texts of the terms seen last: a term has many postings. */
let lastTerm = { term: "", ordered: orderedText("") };

function orderedTerm(term: string): string {
	if (lastTerm.term !== term) lastTerm = { term, ordered: orderedText(term) };
	return lastTerm.ordered;
}

/**
 * Which layers have a term. Pieces are cut by the beginnings of terms, and a term that many layers have by their
 * numbers: the first piece of such a term is a sample of its layers, and the pieces of two such terms can be compared
 * run by run.
 */
export const terms: SetKind<Posting> = {
	folder: "index/terms",
	ending: ".json",
	maxThings: 16_000,
	maxBytes: 12_000,
	textOf: ({ term, number }) => orderedTerm(term) + number,
	bytesOf: () => numberLength,
	headOf: ({ term }) => term,
	headFrame: termFrame,
	write: (things) => {
		const lines: string[] = [];
		let from = 0;
		while (from < things.length) {
			const { term } = things[from] as Posting;
			let to = from;
			let numbers = "";
			for (; to < things.length && things[to]?.term === term; to += 1) numbers += things[to]?.number;
			lines.push(JSON.stringify([term, numbers]));
			from = to;
		}
		return writeLines("terms", lines);
	},
	read: (text) => readLines("terms", text)?.flatMap((line) => postingsOf(line as [string, string])) ?? null,
};

function postingsOf([term, numbers]: [string, string]): Posting[] {
	return splitNumbers(numbers).map((number) => ({ term, number }));
}

/** The numbers that stand side by side in a piece of terms. */
export function splitNumbers(numbers: string): string[] {
	const split: string[] = [];
	for (let from = 0; from < numbers.length; from += numberLength)
		split.push(numbers.slice(from, from + numberLength));
	return split;
}

/** How many layers a filter would leave. */
export interface FacetCount {
	facet: string;
	count: number;
}

/** The values of each filter, with the number of layers that have them. */
export const facets: SetKind<FacetCount> = {
	folder: "index/facets",
	ending: ".json",
	maxThings: 5_000,
	maxBytes: maxPieceBytes - frame,
	textOf: ({ facet }) => orderedText(facet),
	bytesOf: ({ facet }) => byteLength(facet) + 16,
	write: (things) =>
		writeLines(
			"facets",
			things.map(({ facet, count }) => JSON.stringify([facet, count])),
		),
	read: (text) =>
		(readLines("facets", text) as [string, number][] | null)?.map(([facet, count]) => ({ facet, count })) ??
		null,
};

/** The filters that a layer counts for. */
export function countedFacets(entry: Entry): string[] {
	return facetsOf(nameOf(entry));
}
