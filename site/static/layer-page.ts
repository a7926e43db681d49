import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { targetPath } from "../../registry/targets/table.ts";
import { type Entry, type LayerPage, layerAddress } from "../data/entries.ts";
import { snippetsOf } from "../data/snippets.ts";
import { layerFacts, layerHead } from "../page/layer-content.ts";
import { titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { documentHtml, frameHtml, headOf, scriptHead } from "./frame.ts";
import { type Html, html, type PageSettings, type Part, root } from "./html.ts";

/** Without a script the page has everything but the map, which `site/page/layer-view.ts` adds. Pure. */
export function layerHtml(lang: Lang, entry: Entry, settings: PageSettings): string {
	const { smallkey, thumbnail } = entry;
	const { publicUrl, site } = settings;
	const { t, copyText } = textsIn[lang];
	const title = titleOf(entry, lang);
	const context = { lang, root, texts: textsIn[lang], site };
	const picture = html`<img class="thumbnail" src="${root}${thumbnail}" alt="" width="240" height="240">`;
	const served = site.targets.filter((target) => publicUrl && !entry.unread?.includes(`${target}/${lang}`));
	// Without the site's address, snippets that contain it are left out.
	const listed = snippetsOf(entry, lang, publicUrl, served).filter(
		({ kind }) => publicUrl || kind !== "html",
	);
	const snippets = listed.map(({ name, text }) => {
		const shown = copyText(name);
		return html`<h3>${shown}</h3>\n<pre role="group" aria-label="${shown}" tabindex="0"><code>${text}</code></pre>\n`;
	});
	return frameHtml(settings, {
		lang,
		root,
		title,
		head: html`${headHtml(entry, lang, settings)}
${scriptHead(lang, root, settings, entry)}`,
		other: root + layerAddress(otherLang[lang], smallkey),
		content: html`<article class="layer">
<p class="back"><a href="${root}${lang}/"><span aria-hidden="true">← </span>${t("back-to-layers")}</a></p>
<header class="layerhead"><h1>${title}</h1>
${layerHead(entry, context)}</header>
<div class="layerbody">
<div class="mappanel"><noscript>${thumbnail && picture}<p>${t("map-needs-script")}</p></noscript></div>
<div class="aside"><section><h2>${t("about-layer")}</h2>
${layerFacts(entry, context, false)}</section></div>
<noscript class="wide"><h2>${t("viewers-read")}</h2>
${fragments(entry, lang, settings)}
<h2>${t("how-to-draw")}</h2>
${snippets}</noscript>
</div>
</article>`,
	});
}

export function layerEmbedHtml(lang: Lang, entry: Entry, settings: PageSettings): string {
	const title = titleOf(entry, lang);
	const page = layerAddress(lang, entry.smallkey);
	const head = html`${headOf(root, settings, title, scriptHead(lang, root, settings, entry))}
<meta name="robots" content="noindex">
<link rel="canonical" href="${settings.publicUrl || root}${page}">`;
	const body = html`<main id="main" class="embed">
<noscript><p>${textsIn[lang].t("map-needs-script")} <a href="${root}${page}" target="_blank">${title}</a></p></noscript>
</main>`;
	return documentHtml(lang, head, body);
}

export function layerHref(lang: Lang, smallkey: string, { site }: PageSettings): string {
	const query = `${lang}/?layer=${encodeURIComponent(smallkey)}`;
	return root + (site.hasLayerPages ? layerAddress(lang, smallkey) : query);
}

export const layerRenderers: Readonly<Record<LayerPage, typeof layerHtml>> = {
	layer: layerHtml,
	embed: layerEmbedHtml,
};

function fragments(entry: Entry, lang: Lang, { site }: PageSettings): Html {
	const { t } = textsIn[lang];
	const textOf = (target: TargetName, of: Lang) => t(`target-${of}`, target);
	const links = fragmentLinks(entry, site.targets, root, textOf).map((link) => html`<li>${link}</li>\n`);
	if (links.length === 0) return html`<p>${t("viewers-cannot-read")}</p>`;
	return html`<ul class="columns">\n${links}</ul>`;
}

/** Only of those that can be read. */
export function fragmentLinks(
	{ smallkey, unread = [] }: Entry,
	targets: readonly TargetName[],
	root: string,
	textOf: (target: TargetName, lang: Lang) => Part,
): Html[] {
	const key = encodeURIComponent(smallkey);
	return targets.flatMap((target) => {
		const read = langs.filter((lang) => !unread.includes(`${target}/${lang}`));
		return read.map((lang) => {
			return html`<a href="${root}${targetPath(target, lang, key)}">${textOf(target, lang)}</a>`;
		});
	});
}

function headHtml(entry: Entry, lang: Lang, { publicUrl }: PageSettings): Html {
	const { smallkey } = entry;
	const at = (pageLang: Lang) => (publicUrl || root) + layerAddress(pageLang, smallkey);
	const { t, typeText } = textsIn[lang];
	const title = titleOf(entry, lang);
	const words = entry.description?.[lang] ?? t("layer-description", title, typeText(entry.type));
	return html`<meta name="description" content="${words}">
<link rel="canonical" href="${at(lang)}">
${langs.map((pageLang) => html`<link rel="alternate" hreflang="${pageLang}" href="${at(pageLang)}">\n`)}
<link rel="alternate" hreflang="x-default" href="${at("en")}">`;
}
