import type { Entry } from "../../registry/entries.ts";
import { mondayOf } from "../../registry/health.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type Snippet, snippetsOf } from "../../registry/snippets.ts";
import { targetPath } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { addressOf, causeOf, senderOf, stateOf, titleOf } from "../search/entry.ts";
import { sortKey } from "../search/words.ts";
import { layerAddress, listFile, listFolders } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings, type Part, scriptData, textsIn } from "./html.ts";

/** Relative address from a layer page to the site's root. */
const root = "../../";

/** Renders a layer page with the whole entry: `en/layer/<smallkey>.html` or `fr/couche/<smallkey>.html`. Pure. */
export function layerHtml(lang: Lang, entry: Entry, settings: PageSettings): string {
	const { smallkey, bounds, thumbnail } = entry;
	const { t, typeText } = textsIn[lang];
	const title = titleOf(entry, lang);
	const description = entry.description?.[lang];
	const rows: [name: string, content: Part][] = [
		[t("Smallkey"), html`<code>${smallkey}</code>`],
		[t("Type"), typeText(entry.type)],
		[t("Address of the service"), link(addressOf(entry, lang))],
		[t("Layers in the service"), entry.layers?.join(", ")],
		[t("Registered by"), senderOf(entry, lang)],
		[t("Last change"), changed(entry, settings)],
		[t("Extent"), bounds && t("west {0}°, south {1}°, east {2}°, north {3}°", ...bounds)],
		[t("Keywords"), entry.keywords?.join(", ")],
		[t("Health"), health(entry, lang)],
	];
	const picture = html`<img class="thumbnail" src="${root}${thumbnail}" alt="" width="64" height="64" loading="lazy">`;
	const snippets = snippetsIn(entry, lang, settings).map(
		({ name, text }) =>
			html`<h3>${name}</h3>\n<pre role="group" aria-label="${name}" tabindex="0"><code>${text}</code></pre>\n`,
	);
	return frameHtml(settings.assets, {
		lang,
		root,
		title,
		head: headHtml(entry, lang, settings),
		other: root + layerAddress(lang === "en" ? "fr" : "en", smallkey),
		attributes: html` class="guide layer"`,
		content: html`<h1>${title}</h1>
${thumbnail && picture}
${description && html`<p>${description}</p>`}
<p><a href="${root}${lang}/?layer=${encodeURIComponent(smallkey)}">${t("Show on the map, with its legend")}</a></p>
<dl>
${rows.map(([name, content]) => content && html`<dt>${name}</dt><dd>${content}</dd>\n`)}</dl>
<h2>${t("What viewers read")}</h2>
${fragments(entry, lang, settings)}
<h2>${t("How to draw it")}</h2>
${snippets}`,
	});
}

function link(address: string, text = address): Part {
	return /^https?:/i.test(address) ? html`<a href="${address}" rel="noopener noreferrer">${text}</a>` : text;
}

function changed({ changed: last }: Entry, { repository }: PageSettings): Part {
	if (!last) return null;
	const text = `${last.date.slice(0, 10)}, commit ${last.commit.slice(0, 12)}`;
	return repository ? link(`${repository}/commit/${last.commit}`, text) : text;
}

function health(entry: Entry, lang: Lang): Part {
	const { t, stateText } = textsIn[lang];
	const { health: seen } = entry;
	const state = stateText(stateOf(entry));
	if (!seen) return state;
	const day = new Date(mondayOf(seen.since)).toISOString().slice(0, 10);
	const { text, lang: own = lang } = causeOf(seen.cause ?? "", t);
	const cause = text && html`${t(":")} <span lang="${own}">${text}</span>`;
	return html`${state}, ${t("since the week of {0}", day)}${cause}${seen.repair && `. ${t("A repair is proposed.")}`}`;
}

function fragments(entry: Entry, lang: Lang, { targets }: PageSettings): Html {
	const { t } = textsIn[lang];
	const links = fragmentLinks(entry, targets, root, (target, one) =>
		t(one === "en" ? "{0}, English" : "{0}, French", target),
	);
	if (links.length === 0) return html`<p>${t("Viewers cannot read this layer.")}</p>`;
	return html`<ul class="columns">\n${links.map((one) => html`<li>${one}</li>\n`)}</ul>`;
}

/** Links to the fragments of a layer that can be read. @param textOf the text of a link */
function fragmentLinks(
	{ smallkey, unread = [] }: Entry,
	targets: readonly TargetName[],
	root: string,
	textOf: (target: TargetName, lang: Lang) => Part,
): Html[] {
	const key = encodeURIComponent(smallkey);
	return targets.flatMap((target) => {
		const read = langs.filter((lang) => !unread.includes(`${target}/${lang}`));
		const at = (lang: Lang) => root + targetPath(target, lang, key);
		return read.map((lang) => html`<a href="${at(lang)}">${textOf(target, lang)}</a>`);
	});
}

/** The snippets of a layer. Without the site's address, snippets that contain it are left out. */
function snippetsIn(entry: Entry, lang: Lang, { publicUrl, targets }: PageSettings): Snippet[] {
	const { unread = [] } = entry;
	const served = targets.filter((target) => publicUrl && !unread.includes(`${target}/${lang}`));
	return snippetsOf(entry, lang, publicUrl, served).filter(({ kind }) => publicUrl || kind !== "html");
}

/** Canonical address, addresses in both languages, Open Graph (ogp.me) and a schema.org Dataset (JSON-LD 1.1). */
function headHtml(entry: Entry, lang: Lang, { publicUrl }: PageSettings): Html {
	const { smallkey, thumbnail } = entry;
	const at = (one: Lang) => (publicUrl || root) + layerAddress(one, smallkey);
	const title = titleOf(entry, lang);
	const words = entry.description?.[lang] ?? textsIn[lang].t("Map layer: {0} ({1})", title, entry.type);
	return html`<meta name="description" content="${words}">
<link rel="canonical" href="${at(lang)}">
${langs.map((one) => html`<link rel="alternate" hreflang="${one}" href="${at(one)}">\n`)}
<link rel="alternate" hreflang="x-default" href="${at("en")}">
<meta property="og:type" content="website">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${words}">
<meta property="og:locale" content="${lang}_CA">
${publicUrl && html`<meta property="og:url" content="${at(lang)}">`}
${publicUrl && thumbnail && html`<meta property="og:image" content="${publicUrl + thumbnail}">`}
<script type="application/ld+json">${dataset(entry, lang, words, publicUrl && at(lang))}</script>`;
}

/** The Dataset as JSON-LD. It is a data block, not a script, so the content policy allows it. */
function dataset(entry: Entry, lang: Lang, description: string, url: string): Html {
	const { smallkey, bounds, changed, keywords, sender } = entry;
	// South, west, north, east (schema.org, GeoShape).
	const box = bounds && [bounds[1], bounds[0], bounds[3], bounds[2]].join(" ");
	return scriptData({
		"@context": "https://schema.org/",
		"@type": "Dataset",
		name: titleOf(entry, lang),
		description,
		identifier: smallkey,
		inLanguage: lang,
		...(url && { url }),
		...(keywords && { keywords }),
		...(changed && { dateModified: changed.date }),
		...(sender !== undefined && { creator: { "@type": "Organization", name: senderOf(entry, lang) } }),
		...(box && { spatialCoverage: { "@type": "Place", geo: { "@type": "GeoShape", box } } }),
		distribution: { "@type": "DataDownload", encodingFormat: entry.type, contentUrl: addressOf(entry, lang) },
	});
}

const layersPerPage = 200;

/** Number of pages of the plain list. */
export function listPages(layers: number): number {
	return Math.max(Math.ceil(layers / layersPerPage), 1);
}

/** Sorts layers by their titles in a language; equal titles by smallkey. */
export function byTitle(entries: readonly Entry[], lang: Lang): Entry[] {
	const orderOf = (entry: Entry) => `${sortKey(titleOf(entry, lang))}\0${entry.smallkey}`;
	const ordered = entries.map((entry) => ({ entry, order: orderOf(entry) }));
	return ordered.sort((one, other) => (one.order < other.order ? -1 : 1)).map(({ entry }) => entry);
}

/**
 * Renders one page of the plain list: all layers by title, for readers without a script. Pure.
 * @param sorted all layers, sorted by `byTitle`
 * @param page counted from 1
 * @returns null if there is no such page
 */
export function listHtml(
	lang: Lang,
	sorted: readonly Entry[],
	page: number,
	settings: PageSettings,
): string | null {
	const pages = listPages(sorted.length);
	if (page < 1 || page > pages) return null;
	const { t, layers } = textsIn[lang];
	const root = "../".repeat(listFolders[lang].split("/").length);
	const other = lang === "en" ? "fr" : "en";
	const shown = sorted.slice((page - 1) * layersPerPage, page * layersPerPage);
	const at = (number: number, text: string, rel?: string) =>
		html`<a href="${root}${listFile(lang, number)}"${rel && html` rel="${rel}"`}>${text}</a> `;
	const others = Array.from({ length: pages }, (_, index) =>
		index + 1 === page ? html`<span aria-current="page">${page}</span> ` : at(index + 1, String(index + 1)),
	);
	const rows = shown.map((entry) => rowHtml(entry, lang, root, settings));
	const previous = page > 1 && at(page - 1, t("Previous page"), "prev");
	const next = page < pages && at(page + 1, t("Next page"), "next");
	const content = html`<h1>${t("All layers")}</h1>
<p>${shown.length === 0 ? t("No layer is registered yet.") : t("{0}, by title", layers(sorted.length))}</p>
${shown.length > 0 && html`<ul class="plain">\n${rows}</ul>`}
${
	pages > 1 &&
	html`<nav aria-label="${t("Pages")}"><p>${t("Page {0} of {1}", page, pages)} ${previous}${next}</p>
<p>${others}</p></nav>`
}`;
	return frameHtml(settings.assets, {
		lang,
		root,
		title: page === 1 ? t("All layers") : `${t("All layers")} (${page})`,
		other: root + listFile(other, page),
		content,
	});
}

function rowHtml(entry: Entry, lang: Lang, root: string, { targets, hasLayerPages }: PageSettings): Html {
	const { smallkey } = entry;
	const title = titleOf(entry, lang);
	const name = hasLayerPages ? html`<a href="${root}${layerAddress(lang, smallkey)}">${title}</a>` : title;
	const reads = fragmentLinks(entry, targets, root, (target, one) => html`${target}&nbsp;${one}`);
	// A layer page shows the address and the fragments itself.
	const more =
		!hasLayerPages &&
		html` <span class="address">${addressOf(entry, lang)}</span>${reads.map((one) => html` ${one}`)}`;
	return html`<li>${name} <code>${smallkey}</code>${more}</li>\n`;
}
