import type { Entry } from "../registry/entries.ts";
import { langs } from "../registry/smallkey.ts";
import { feedPath } from "../site/static/addresses.ts";
import { escapeHtml } from "../site/static/html.ts";

/** What became of a layer in one commit. */
export type ChangeKind = "added" | "changed" | "removed";

/** A commit as a piece lists it. */
export interface ListedCommit {
	commit: string;
	/** When it was committed: ISO 8601 in UTC, whole seconds. */
	date: string;
	/** Sorted by smallkey, each once; left out if they are too many. */
	layers?: { smallkey: string; kind: ChangeKind }[];
	/** Smallkeys of layers for which a repair was proposed. */
	repairs?: string[];
	/** The number of the layers, if they are too many for a list. */
	many?: number;
}

/** Most changes in the feed. */
export const maxFeedEntries = 100;

const kindWords = {
	added: "added · ajoutée",
	changed: "changed · modifiée",
	removed: "removed · retirée",
	repair: "a repair is proposed · une réparation est proposée",
};

/** The titles of a layer as XML text, by its smallkey. */
export type FeedTitle = (smallkey: string) => string;

/** An entry of the feed: a change of one layer, or the number of layers that one commit changed. */
export interface FeedChange {
	commit: string;
	date: string;
	what: { smallkey: string; kind: keyof typeof kindWords } | { many: number };
}

/** The entries of a commit. */
export function feedChanges({ commit, date, layers = [], repairs = [], many }: ListedCommit): FeedChange[] {
	const repaired = repairs.map((smallkey) => ({ smallkey, kind: "repair" as const }));
	const whats = many === undefined ? [...layers, ...repaired] : [{ many }];
	return whats.map((what) => ({ commit, date, what }));
}

/**
 * The last 100 changes as an Atom feed (RFC 4287). The ids are made from the commits, so they are the same on every host.
 * Smallkeys and commit ids need no escaping: they have no character that is special in XML.
 * @param changes newest first
 * @param base address of the service with a slash at its end, escaped, or empty
 */
export function feedText(changes: readonly FeedChange[], updated: string, base: string, titleOf: FeedTitle) {
	const self = base ? `<link rel="self" href="${base}${feedPath}"/>\n` : "";
	const entries = changes.slice(0, maxFeedEntries).map((one) => entryText(one, base || "../", titleOf));
	return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:x-layer-changes</id>
<title>Map layers: changes · Couches cartographiques : modifications</title>
<author><name>Map layer registrations · Inscriptions de couches</name></author>
<updated>${updated}</updated>
${self}${entries.join("\n")}
</feed>
`;
}

function entryText({ commit, date, what }: FeedChange, root: string, titleOf: FeedTitle): string {
	const isMany = "many" in what;
	const query = isMany ? "?sort=changed" : `?layer=${encodeURIComponent(what.smallkey)}`;
	const title = isMany
		? `${what.many} layers changed · ${what.many} couches modifiées`
		: `${titleOf(what.smallkey)}: ${kindWords[what.kind]}`;
	const links = langs.map((lang, at) => {
		const rel = at === 0 ? "" : ' rel="alternate"';
		return `<link${rel} href="${root}${lang}/${query}" hreflang="${lang}"/>`;
	});
	return `<entry>
<id>urn:x-layer-change:${commit}${isMany ? "" : `:${encodeURIComponent(what.smallkey)}`}</id>
<title>${title}</title>
<updated>${date}</updated>${isMany ? "" : `\n<category term="${what.smallkey}"/>`}
${links.join("\n")}
</entry>`;
}

/** The titles of a layer, each once, as XML text; the smallkey of a layer that was removed. */
export function feedTitle(smallkey: string, title: Entry["title"] | null | undefined): string {
	const texts = langs.map((lang) => title?.[lang].trim() || smallkey);
	// XML 1.0, section 2.2: control characters cannot be escaped.
	return escapeHtml(
		[...new Set(texts)]
			.join(" · ")
			.replace(/\p{Cc}|[\ufffe\uffff]/gu, " ")
			.toWellFormed(),
	);
}

/** The titles in a feed, by smallkey. */
export function titlesIn(feed: string): Map<string, string> {
	const entry = /<title>(.*): [^:\n]*<\/title>\n<updated>[^<]*<\/updated>\n<category term="([^"]*)"\/>/g;
	return new Map([...feed.matchAll(entry)].map(([, title = "", smallkey = ""]) => [smallkey, title]));
}
