import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import type { Entry, FieldChange, RecentChange } from "../data/entries.ts";
import { inBoth, textsIn } from "../text/static.ts";
import { feedPath, repairAddress } from "./addresses.ts";
import { documentHtml, frameHtml } from "./frame.ts";
import { escapeHtml, type Html, html, type PageSettings } from "./html.ts";

export type ErrorKind = "no-page" | "building";

export const reloadSeconds = 3;

/** In the page itself: on an error, other files may be missing, too. */
const errorStyles =
	"body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:10vh auto;padding:0 1.5rem;color:light-dark(#1b1f24,#e9edf1);background:light-dark(#fbfbf9,#14181d)}h1{font-size:1.4rem;margin-top:2rem}a{color:light-dark(#0b57a4,#8cc2ff)}";

function sectionHtml(kind: ErrorKind, lang: Lang, home: string): Html {
	const { t } = textsIn[lang];
	const way = html` <a href="${home}${lang}/">${t("to-layers")}</a>`;
	return html`<section lang="${lang}">
<h1>${t(kind)}</h1>
<p>${t(`${kind}-hint`)}${kind !== "building" && way}</p>
</section>
`;
}

export function noPageHtml(lang: Lang, root: string, pages: PageSettings): string {
	const other = otherLang[lang];
	return frameHtml(pages, {
		...{ lang, root, other: null },
		title: textsIn[lang].t("no-page"),
		head: html`<meta name="robots" content="noindex">`,
		content: [lang, other].map((sectionLang) => sectionHtml("no-page", sectionLang as Lang, root)),
	});
}

export function errorHtml(kind: ErrorKind, home: string): string {
	const head = html`<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${kind === "building" && html`<meta http-equiv="refresh" content="${reloadSeconds}">`}
<title>${inBoth(kind)}</title>
<style>${errorStyles}</style>`;
	return documentHtml("en", head, html`<main>\n${langs.map((lang) => sectionHtml(kind, lang, home))}</main>`);
}

const maxFeedEntries = 100;

/** XML text. @param was the titles of a removed layer */
type FeedTitle = (smallkey: string, was?: Entry["title"]) => string;

/**
 * Atom (RFC 4287). The ids are made from the commits, so they are the same on every host. Smallkeys and
 * commit ids have no character that is special in XML.
 * @param changes newest first
 * @param publicUrl with a slash at its end, or empty
 * @param updated the time of the newest change
 */
export function feedText(
	changes: readonly RecentChange[],
	titleOf: FeedTitle,
	publicUrl: string,
	updated: string,
): string {
	const base = escapeHtml(publicUrl);
	const self = base ? `<link rel="self" href="${base}${feedPath}"/>\n` : "";
	const entries = changes.slice(0, maxFeedEntries).map((change) => entryText(change, base || "../", titleOf));
	return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>urn:x-layer-changes</id>
<title>${inBoth("feed-title")}</title>
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

const maxSummarized = 10;

function summaryText(fields: readonly FieldChange[] = []): string {
	const members = fields.filter(({ field }) => field !== "").slice(0, maxSummarized);
	const lines = members.map(({ field, from, to }) => {
		const values = from === undefined && to === undefined ? "" : `: ${from ?? "–"} → ${to ?? "–"}`;
		return `${field}${values}`;
	});
	return lines.length === 0 ? "" : `\n<summary>${xmlText(lines.join("\n"))}</summary>`;
}

/** Control characters cannot be escaped (XML 1.0, section 2.2). */
function xmlText(text: string): string {
	return escapeHtml(text.replace(/(?!\n)\p{Cc}|[\ufffe\uffff]/gu, " ").toWellFormed());
}

/** XML text, each title once; the smallkey if they are unknown. */
export function feedTitle(smallkey: string, title: Entry["title"] | null | undefined): string {
	const texts = langs.map((lang) => title?.[lang].replaceAll("\n", " ").trim() || smallkey);
	return xmlText([...new Set(texts)].join(" · "));
}
