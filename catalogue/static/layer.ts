import type { Entry } from "../../registry/entries.ts";
import { mondayOf } from "../../registry/health.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { snippetsOf } from "../../registry/snippets.ts";
import { targetPath } from "../../registry/targets/table.ts";
import { addressOf, senderOf, titleOf } from "../../site/search/entry.ts";
import { layerAddress } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { escapeHtml, type PageSettings } from "./html.ts";
import { staticTexts, textsOf } from "./texts.ts";

/** From the page of a layer to the site's root. */
const root = "../../";

/** `en/layer/<smallkey>.html` and `fr/couche/<smallkey>.html`: everything that the catalogue says of a layer. Pure. */
export function layerHtml(lang: Lang, entry: Entry, settings: PageSettings): string {
	const { smallkey } = entry;
	const [texts, site] = [staticTexts[lang], textsOf(lang)];
	const title = titleOf(entry, lang);
	const description = entry.description?.[lang];
	const rows: [string, string | null][] = [
		[site.smallkey, `<code>${escapeHtml(smallkey)}</code>`],
		[site.type, escapeHtml(site.types[entry.type] ?? entry.type)],
		[site.address, link(addressOf(entry, lang))],
		[texts.layers, entry.layers ? escapeHtml(entry.layers.join(", ")) : null],
		[site.senderField, entry.sender === undefined ? null : escapeHtml(senderOf(entry, lang))],
		[site.lastChange, changedHtml(entry, lang, settings)],
		[texts.bounds, entry.bounds ? escapeHtml(texts.boundsOf(entry.bounds)) : null],
		[texts.keywords, entry.keywords ? escapeHtml(entry.keywords.join(", ")) : null],
		[site.health, escapeHtml(healthText(entry, lang))],
	];
	const content = [
		`<h1>${escapeHtml(title)}</h1>`,
		...(entry.thumbnail
			? [
					`<img class="thumbnail" src="${root}${escapeHtml(entry.thumbnail)}" alt="" width="64" height="64" loading="lazy">`,
				]
			: []),
		...(description ? [`<p>${escapeHtml(description)}</p>`] : []),
		`<p><a href="${root}${lang}/?layer=${encodeURIComponent(smallkey)}">${escapeHtml(texts.openInteractive)}</a></p>`,
		`<dl>\n${rows.map(rowHtml).join("")}</dl>`,
		`<h2>${escapeHtml(texts.fragments)}</h2>`,
		fragmentsHtml(entry, lang, settings),
		`<h2>${escapeHtml(texts.snippets)}</h2>`,
		...snippetsHtml(entry, lang, settings),
	];
	return frameHtml(settings.assets, {
		lang,
		root,
		title,
		head: headHtml(entry, lang, settings),
		other: root + layerAddress(lang === "en" ? "fr" : "en", smallkey),
		attributes: ' class="guide"',
		content: content.join("\n"),
	});
}

function rowHtml([name, html]: [string, string | null]): string {
	return html === null ? "" : `<dt>${escapeHtml(name)}</dt><dd>${html}</dd>\n`;
}

function link(address: string): string {
	const text = escapeHtml(address);
	return /^https?:/i.test(address) ? `<a href="${text}" rel="noopener noreferrer">${text}</a>` : text;
}

function changedHtml({ changed, smallkey }: Entry, lang: Lang, { repository }: PageSettings): string | null {
	if (!changed) return null;
	const text = escapeHtml(textsOf(lang).changedOn(changed.date.slice(0, 10), changed.commit.slice(0, 12)));
	const address = `${repository}/commit/${changed.commit}`;
	return repository && smallkey
		? `<a href="${escapeHtml(address)}" rel="noopener noreferrer">${text}</a>`
		: text;
}

function healthText({ health }: Entry, lang: Lang): string {
	const { states, since, colon } = textsOf(lang);
	if (!health) return (health === null ? states.unchecked : states.ok) ?? "";
	const day = new Date(mondayOf(health.since)).toISOString().slice(0, 10);
	const words = [`${states[health.state]}, ${since(day)}`, health.cause].filter(Boolean).join(`${colon} `);
	return health.repair ? `${words}. ${textsOf(lang).repairProposed}` : words;
}

function fragmentsHtml({ smallkey, unread = [] }: Entry, lang: Lang, { targets }: PageSettings): string {
	const items = targets.flatMap((target) =>
		langs
			.filter((one) => !unread.includes(`${target}/${one}`))
			.map((one) => {
				const path = targetPath(target, one, encodeURIComponent(smallkey));
				return `<li><a href="${root}${path}">${escapeHtml(staticTexts[lang].fragmentIn(target, one))}</a></li>`;
			}),
	);
	if (items.length === 0) return `<p>${escapeHtml(staticTexts[lang].unread)}</p>`;
	return `<ul class="columns">\n${items.join("\n")}\n</ul>`;
}

function snippetsHtml(entry: Entry, lang: Lang, { publicUrl, targets }: PageSettings): string[] {
	const { unread = [] } = entry;
	const served = targets.filter((target) => !unread.includes(`${target}/${lang}`));
	return snippetsOf(entry, lang, publicUrl || root, served).map(
		({ name, text }) =>
			`<h3>${escapeHtml(name)}</h3>\n<pre role="group" aria-label="${escapeHtml(name)}" tabindex="0"><code>${escapeHtml(text)}</code></pre>`,
	);
}

/** Canonical address, the pair of languages, Open Graph (ogp.me) and a schema.org Dataset (JSON-LD 1.1). */
function headHtml(entry: Entry, lang: Lang, { publicUrl }: PageSettings): string {
	const { smallkey } = entry;
	const at = (one: Lang) => (publicUrl || root) + layerAddress(one, smallkey);
	const title = titleOf(entry, lang);
	const words = entry.description?.[lang] ?? staticTexts[lang].description(title, entry.type);
	const meta = (name: string, content: string) =>
		`<meta property="${name}" content="${escapeHtml(content)}">`;
	return [
		`<meta name="description" content="${escapeHtml(words)}">`,
		`<link rel="canonical" href="${at(lang)}">`,
		...langs.map((one) => `<link rel="alternate" hreflang="${one}" href="${at(one)}">`),
		`<link rel="alternate" hreflang="x-default" href="${at("en")}">`,
		meta("og:type", "website"),
		meta("og:title", title),
		meta("og:description", words),
		meta("og:locale", lang === "fr" ? "fr_CA" : "en_CA"),
		...(publicUrl ? [meta("og:url", at(lang))] : []),
		...(publicUrl && entry.thumbnail ? [meta("og:image", publicUrl + entry.thumbnail)] : []),
		`<script type="application/ld+json">${dataset(entry, lang, words, publicUrl && at(lang))}</script>`,
	].join("\n");
}

/** A data block runs nowhere; without a `<` nothing in it ends it. */
function dataset(entry: Entry, lang: Lang, description: string, url: string): string {
	const { smallkey, bounds, changed, keywords, sender } = entry;
	const value = {
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
		...(bounds && {
			spatialCoverage: {
				"@type": "Place",
				// South, west, north, east (schema.org, GeoShape).
				geo: { "@type": "GeoShape", box: [bounds[1], bounds[0], bounds[3], bounds[2]].join(" ") },
			},
		}),
		distribution: {
			"@type": "DataDownload",
			encodingFormat: entry.type,
			contentUrl: addressOf(entry, lang),
		},
	};
	return JSON.stringify(value).replaceAll("<", "\\u003c");
}
