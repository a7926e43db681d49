import type { Entry } from "../../registry/entries.ts";
import { mondayOf } from "../../registry/health.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type Snippet, snippetsOf } from "../../registry/snippets.ts";
import { targetPath } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { addressOf, causeOf, senderOf, stateOf, titleOf } from "../search/entry.ts";
import { layerAddress } from "./addresses.ts";
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
export function fragmentLinks(
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
