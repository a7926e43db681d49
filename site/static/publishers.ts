import { causes } from "../../registry/causes.ts";
import { causeIn } from "../../registry/health.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import type { ChangeDetail, RecentChange } from "../data/recent.ts";
import { addressOf, layersIn, senderOf, slugOf, stateOf } from "../search/entry.ts";
import type { PageSettings } from "./html.ts";
import { byTitle } from "./list.ts";

/** The last changes, with what pages and feeds of them need. */
export interface Lists {
	/** Newest first. */
	changes: readonly RecentChange[];
	/** The entry of a layer as it is now; undefined for a removed layer. */
	entryOf: (smallkey: string) => Entry | undefined;
	/** When a layer's service was asked last, in milliseconds since 1970, or null; null if that is not known here. */
	lastLook: ((smallkey: string) => number | null) | null;
	settings: PageSettings;
}

/** The layers of each publisher, by the name in the publisher's addresses. */
export type Publishers = ReadonlyMap<string, readonly Entry[]>;

/** Groups layers by their publishers; those without a public name are left out. */
export function publishersOf(entries: Iterable<Entry>): Publishers {
	const slugs = new Map<string, string | null>();
	const groups = new Map<string, Entry[]>();
	for (const entry of entries) {
		const name = senderOf(entry, "en");
		const slug = slugs.get(name) ?? slugOf(entry);
		slugs.set(name, slug);
		if (slug === null) continue;
		const group = groups.get(slug) ?? [];
		groups.set(slug, group);
		group.push(entry);
	}
	return groups;
}

/** The public names of a publisher in one language. */
export function namesOf(layers: readonly Entry[], lang: Lang): string {
	return [...new Set(layers.map((entry) => senderOf(entry, lang)))].join(" · ");
}

/** A layer as it is now or, if it was removed, as it was; undefined if neither is known. */
export function layerOf(smallkey: string, { entryOf, changes }: Lists) {
	const isRemoval = ({ what }: RecentChange) =>
		!("many" in what) && what.smallkey === smallkey && what.was !== undefined;
	const was = () => changes.find(isRemoval)?.what as ChangeDetail | undefined;
	return entryOf(smallkey) ?? was()?.was;
}

/** The publisher of a change in addresses; null if it is not known. */
export function slugOfChange({ what }: RecentChange, lists: Lists): string | null {
	return "many" in what ? null : slugOf(layerOf(what.smallkey, lists) ?? {});
}

/** A publisher's layers, one for each row of the table. @returns columns in the order of the table */
function tableRow(entry: Entry): Record<string, string> {
	const { smallkey, type, title, health, changed } = entry;
	return {
		smallkey,
		type,
		title_en: title.en,
		title_fr: title.fr,
		address_en: addressOf(entry, "en"),
		address_fr: addressOf(entry, "fr"),
		layers_en: layersIn(entry, "en").join(", "),
		layers_fr: layersIn(entry, "fr").join(", "),
		health: stateOf(entry),
		cause_en: causeIn("en", causes.en, health ?? {}).text,
		cause_fr: causeIn("fr", causes.fr, health ?? {}).text,
		since: health?.since ?? "",
		repair: health?.repair ? "proposed" : "",
		changed: changed?.date ?? "",
		commit: changed?.commit ?? "",
	};
}

/** The table as JSON: a list of objects with texts. */
export function publisherJson(layers: readonly Entry[]): string {
	return `[\n${byTitle(layers, "en")
		.map(({ entry }) => JSON.stringify(tableRow(entry)))
		.join(",\n")}\n]\n`;
}

/**
 * The table as CSV (RFC 4180), in UTF-8 with a byte order mark, without which Excel reads another encoding. A text that a
 * spreadsheet would take for a formula gets an apostrophe in front (OWASP, "CSV Injection").
 */
export function publisherCsv(layers: readonly Entry[]): string {
	const rows = byTitle(layers, "en").map(({ entry }) => tableRow(entry));
	const cell = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
	const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))];
	return `\ufeff${lines.map((cells) => cells.map(cell).join(",")).join("\r\n")}\r\n`;
}
