import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import type { FieldChange, RecentChange } from "../data/recent.ts";
import { repairAddress } from "./addresses.ts";
import { escapeHtml, inBoth } from "./html.ts";

/** Most changes in the feed. */
export const maxFeedEntries = 100;

/**
 * The titles of a layer as XML text, by its smallkey.
 * @param was the titles of a removed layer
 */
export type FeedTitle = (smallkey: string, was?: Entry["title"]) => string;

interface Feed {
	/** Its address below the site's root. */
	path: string;
	/** Address of the site with a slash at its end, or empty. */
	publicUrl: string;
	/** The time of its newest change. */
	updated: string;
	/** The publisher or the layer of the changes, with the last part of the feed's id; absent: of all layers. */
	of?: { id: string; name: string };
}

/**
 * The last 100 changes as an Atom feed (RFC 4287). The ids are made from the commits, so they are the same on every host.
 * Smallkeys and commit ids need no escaping: they have no character that is special in XML.
 * @param changes newest first
 */
export function feedText(changes: readonly RecentChange[], titleOf: FeedTitle, feed: Feed): string {
	const { path, publicUrl, updated, of } = feed;
	const base = escapeHtml(publicUrl);
	const root = base || "../".repeat(path.split("/").length - 1);
	const self = base ? `<link rel="self" href="${base}${path}"/>\n` : "";
	const entries = changes.slice(0, maxFeedEntries).map((one) => entryText(one, root, titleOf));
	const name = of ? `${xmlText(of.name)}: ${inBoth("change-list")}` : inBoth("feed-title");
	return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:x-layer-changes${of ? `:${encodeURIComponent(of.id)}` : ""}</id>
<title>${name}</title>
<author><name>${inBoth("feed-author")}</name></author>
<updated>${updated}</updated>
${self}${entries.join("\n")}
</feed>
`;
}

function entryText({ commit, date, what }: RecentChange, root: string, titleOf: FeedTitle): string {
	const isMany = "many" in what;
	const placeOf = (lang: Lang) => {
		if (isMany) return `${lang}/?sort=changed`;
		// Only a service proposes repairs in commits.
		if (what.kind === "repair") return repairAddress(lang, what.smallkey);
		return `${lang}/?layer=${encodeURIComponent(what.smallkey)}`;
	};
	const title = isMany
		? inBoth("layers-changed", String(what.many))
		: `${titleOf(what.smallkey, what.was?.title)}: ${inBoth(`feed-${what.kind}`)}`;
	const links = langs.map((lang, at) => {
		const rel = at === 0 ? "" : ' rel="alternate"';
		return `<link${rel} href="${root}${placeOf(lang)}" hreflang="${lang}"/>`;
	});
	return `<entry>
<id>urn:x-layer-change:${commit}${isMany ? "" : `:${encodeURIComponent(what.smallkey)}`}</id>
<title>${title}</title>
<updated>${date}</updated>${isMany ? "" : `\n<category term="${what.smallkey}"/>${summaryText(what.fields)}`}
${links.join("\n")}
</entry>`;
}

/** Most changed members that an entry names. */
const maxSummarized = 10;

/** The changed members with their values, as the summary of an entry; empty if there are none. */
function summaryText(fields: readonly FieldChange[] = []): string {
	const named = fields.filter(({ field }) => field !== "").slice(0, maxSummarized);
	const lines = named.map(({ field, from, to }) => {
		const values = from === undefined && to === undefined ? "" : `: ${from ?? "–"} → ${to ?? "–"}`;
		return `${field}${values}`;
	});
	return lines.length === 0 ? "" : `\n<summary>${xmlText(lines.join("\n"))}</summary>`;
}

/** A text as XML. Control characters cannot be escaped (XML 1.0, section 2.2). */
function xmlText(text: string): string {
	return escapeHtml(text.replace(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, " ").toWellFormed());
}

/** The titles of a layer, each once, as XML text; the smallkey if they are not known. */
export function feedTitle(smallkey: string, title: Entry["title"] | null | undefined): string {
	const texts = langs.map((lang) => title?.[lang].replaceAll("\n", " ").trim() || smallkey);
	return xmlText([...new Set(texts)].join(" · "));
}
