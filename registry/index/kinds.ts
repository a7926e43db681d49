import type { Sickness } from "../health.ts";
import { type Lang, langs } from "../smallkey.ts";
import { type Entry, facetsOf, type Name, nameOf, numberedText } from "./entry.ts";
import { orderedText } from "./ordered.ts";
import type { Box } from "./place.ts";
import { byteLength, readLines, type SetKind, writeLines } from "./set.ts";

/** Most bytes of one file of the index. */
export const maxPieceBytes = 64_000;

/** What stands around the things of a piece, with room to spare. */
const frame = 200;

/** A name as a row: smallkey, type, titles, hosts, health, sender, extent; what is the same in French is 0 or left out. */
type Row = [string, string, string, string | 0, string, string, string, Box | 0];

function rowOf({ smallkey, type, title, host, health, sender, extent }: Name): Row {
	const french = title.fr === title.en ? 0 : title.fr;
	const hosts = host.fr === host.en ? host.en : `${host.en} ${host.fr}`;
	return [smallkey, type, title.en, french, hosts, health, sender, extent ? withSize(extent) : 0];
}

function nameOfRow(row: unknown): Name {
	const [smallkey, type, en, fr, hosts, health, sender, extent] = row as Row;
	const [english = "", french = english] = hosts.split(" ");
	return {
		smallkey,
		type,
		title: { en, fr: fr === 0 ? en : fr },
		host: { en: english, fr: french },
		health,
		sender,
		extent: extent === 0 ? null : withCorners(extent),
	};
}

/** A rectangle by its lower left corner, width and height: shorter, since most are small. */
function withSize([xmin, ymin, xmax, ymax]: Box): Box {
	return [xmin, ymin, xmax - xmin, ymax - ymin];
}

function withCorners([xmin, ymin, width, height]: Box): Box {
	return [xmin, ymin, xmin + width, ymin + height];
}

/** What search results show, by number: small pieces, since the hits of a search lie in many. */
export const names: SetKind<Name> = {
	folder: "index/names",
	ending: ".json",
	maxThings: 128,
	maxBytes: maxPieceBytes - frame,
	textOf: ({ smallkey }) => numberedText(smallkey),
	bytesOf: (name) => byteLength(nameText(name)) + 2,
	write: (things) => writeLines("names", things.map(nameText)),
	read: (text) => readLines("names", text)?.map(nameOfRow) ?? null,
};

/** A name as it stands in its piece: equal names give equal texts. */
export function nameText(name: Name): string {
	return JSON.stringify(rowOf(name));
}

/** What the index says of a layer beside its name. */
export interface Details {
	smallkey: string;
	/** The last commit that changed it, and its time; left out where the whole history is not there. */
	commit?: string;
	date?: string;
	/** Since which week it is sick. */
	since?: string;
	extent?: Box;
	/** Target → content hashes of the English and the French fragment with a space between them; empty: not served. */
	fragments: Record<string, string>;
}

/** The part of an entry that no search needs. */
export function detailsOf({ smallkey, changed, health, extent, fragments }: Entry): Details {
	const targets = Object.keys(fragments).sort();
	const hashes = (target: string) => langs.map((lang) => fragments[target]?.[lang] ?? "").join(" ");
	return {
		smallkey,
		...(changed && { commit: changed.commit, date: changed.date }),
		...(health && { since: health.since }),
		...(extent && { extent }),
		fragments: Object.fromEntries(targets.map((target) => [target, hashes(target)])),
	};
}

/** The entry of which these are the parts. */
export function entryFrom(name: Name, details: Details): Entry {
	const { smallkey, type, title, host, sender, health } = name;
	const { commit, date, since, extent, fragments } = details;
	return {
		smallkey,
		type,
		title,
		host,
		...(sender && { sender }),
		...(commit && date && { changed: { commit, date } }),
		...(health && since && { health: { state: health as Sickness["state"], since } }),
		...(extent && { extent }),
		fragments: Object.fromEntries(
			Object.entries(fragments).map(([target, hashes]) => [target, hashesByLang(hashes)]),
		),
	};
}

function hashesByLang(hashes: string): Partial<Record<Lang, string>> {
	const [en, fr] = hashes.split(" ");
	return { ...(en && { en }), ...(fr && { fr }) };
}

/** The details as they stand in their piece: equal details give equal texts. */
export function detailsText(details: Details): string {
	return JSON.stringify(details);
}

/** What else the index says of a layer, by number. */
export const layers: SetKind<Details> = {
	folder: "index/layers",
	ending: ".json",
	maxThings: 250,
	maxBytes: maxPieceBytes - frame,
	textOf: ({ smallkey }) => numberedText(smallkey),
	bytesOf: (details) => byteLength(detailsText(details)) + 2,
	write: (things) => writeLines("layers", things.map(detailsText)),
	read: (text) => readLines("layers", text) as Details[] | null,
};

/** All smallkeys in lower case: what starts with a text is found in them. */
export const keys: SetKind<string> = {
	folder: "index/keys",
	ending: ".json",
	maxThings: 4_000,
	maxBytes: 30_000,
	textOf: orderedText,
	bytesOf: (key) => key.length + 4,
	write: (things) =>
		writeLines(
			"keys",
			things.map((key) => JSON.stringify(key)),
		),
	read: (text) => readLines("keys", text) as string[] | null,
};

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
