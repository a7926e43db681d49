import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { type Entry, type LayerPage, layerAddress } from "../data/entries.ts";
import { embedArticle, type LayerContext, layerArticle } from "../page/layer-content.ts";
import { titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { documentHtml, frameHtml, headOf, scriptHead } from "./frame.ts";
import { type Html, html } from "./html.ts";
import { type PageSettings, root } from "./page-settings.ts";

/** Without a script the page has everything but the map. Pure. */
export function layerHtml(lang: Lang, entry: Entry, settings: PageSettings): string {
	const { smallkey, thumbnail } = entry;
	const { t } = textsIn[lang];
	const picture = html`<img class="thumbnail" src="${root}${thumbnail}" alt="" width="240" height="240">`;
	return frameHtml(settings, {
		lang,
		root,
		title: titleOf(entry, lang),
		head: html`${headHtml(entry, lang, settings)}
${scriptHead(lang, root, settings, entry)}`,
		other: root + layerAddress(otherLang[lang], smallkey),
		content: layerArticle(
			entry,
			contextOf(lang, settings),
			html`<noscript>${thumbnail && picture}<p>${t("needs-script")}</p></noscript>`,
		),
	});
}

export function layerEmbedHtml(lang: Lang, entry: Entry, settings: PageSettings): string {
	const page = layerAddress(lang, entry.smallkey);
	const head = html`${headOf(root, settings, titleOf(entry, lang), scriptHead(lang, root, settings, entry))}
<meta name="robots" content="noindex">
<link rel="canonical" href="${settings.publicUrl || root}${page}">`;
	const withoutScript = html`<noscript><p>${textsIn[lang].t("needs-script")}</p></noscript>`;
	const body = html`<main id="main" class="embed">
${embedArticle(entry, contextOf(lang, settings), withoutScript)}
</main>`;
	return documentHtml(lang, head, body);
}

function contextOf(lang: Lang, { publicUrl, site }: PageSettings): LayerContext {
	return { lang, root, publicUrl, texts: textsIn[lang], site };
}

export function layerHref(lang: Lang, smallkey: string, { site }: PageSettings): string {
	const query = `${lang}/?layer=${encodeURIComponent(smallkey)}`;
	return root + (site.hasLayerPages ? layerAddress(lang, smallkey) : query);
}

export const layerRenderers: Readonly<Record<LayerPage, typeof layerHtml>> = {
	layer: layerHtml,
	embed: layerEmbedHtml,
};

function headHtml(entry: Entry, lang: Lang, { publicUrl }: PageSettings): Html {
	const { smallkey } = entry;
	const pageUrl = (pageLang: Lang) => (publicUrl || root) + layerAddress(pageLang, smallkey);
	const { t, typeText } = textsIn[lang];
	const title = titleOf(entry, lang);
	const words = entry.description?.[lang] ?? t("layer-description", title, typeText(entry.type));
	return html`<meta name="description" content="${words}">
<link rel="canonical" href="${pageUrl(lang)}">
${langs.map((pageLang) => html`<link rel="alternate" hreflang="${pageLang}" href="${pageUrl(pageLang)}">\n`)}
<link rel="alternate" hreflang="x-default" href="${pageUrl("en")}">`;
}
