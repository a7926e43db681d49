import { type Lang, langs } from "../../registry/smallkey.ts";
import type { Entry, RecentChange } from "../data/entries.ts";
import { inBoth } from "../text/static.ts";
import { feedPath } from "./addresses.ts";
import { type Html, html } from "./html.ts";

const maxFeedEntries = 100;

type Titles = ReadonlyMap<string, Entry["title"]>;

/** Atom (RFC 4287). The ids are the same on every host. @param changes newest first, at least one */
export function feedText(changes: readonly RecentChange[], titles: Titles, publicUrl: string): string {
	const self = publicUrl && html`<link rel="self" href="${publicUrl}${feedPath}"/>\n`;
	const entries = changes
		.slice(0, maxFeedEntries)
		.map((change) => entryXml(change, publicUrl || "../", titles));
	return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:x-layer-changes</id>
<title>${inBoth("feed-title")}</title>
<author><name>${inBoth("feed-author")}</name></author>
<updated>${changes[0]?.date}</updated>
${self}${entries}</feed>
`.text;
}

function entryXml({ commit, date, what }: RecentChange, root: string, titles: Titles): Html {
	const layer = "many" in what ? null : what;
	const placeOf = (lang: Lang) => {
		return layer ? `${lang}/?layer=${encodeURIComponent(layer.smallkey)}` : `${lang}/?sort=changed`;
	};
	const title =
		"many" in what
			? inBoth("layers-changed", String(what.many))
			: `${titlesIn(what.smallkey, titles.get(what.smallkey))}: ${inBoth(`kind-${what.kind}`).toLowerCase()}`;
	const links = langs.map((lang, at) => {
		const rel = at > 0 && html` rel="alternate"`;
		return html`<link${rel} href="${root}${placeOf(lang)}" hreflang="${lang}"/>\n`;
	});
	const id = layer && html`:${encodeURIComponent(layer.smallkey)}`;
	const detail = layer && html`\n<category term="${layer.smallkey}"/>`;
	return html`<entry>
<id>urn:x-layer-change:${commit}${id}</id>
<title>${title}</title>
<updated>${date}</updated>${detail}
${links}</entry>
`;
}

/** Control characters cannot be escaped (XML 1.0, section 2.2). */
function printable(text: string): string {
	return text.replace(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, " ").toWellFormed();
}

/** Each title once; the smallkey if they are unknown. */
function titlesIn(smallkey: string, title: Entry["title"] | undefined): string {
	const titles = langs.map((lang) => title?.[lang].replaceAll("\n", " ").trim() || smallkey);
	return printable([...new Set(titles)].join(" · "));
}
