import { manifestPath } from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { feedPath } from "./addresses.ts";
import { type Assets, documentHtml, type Html, headOf, html, type Part } from "./html.ts";
import { textsOf } from "./texts.ts";

/** The parts of a page that are its own. */
export interface Frame {
	lang: Lang;
	/** Relative address from the page to the site's root, such as `../`. */
	root: string;
	/** Null for a page with only the site's title. */
	title: string | null;
	head?: Part;
	/** Address of the same page in the other language; null if there is none. */
	other: string | null;
	/** Further attributes of `main`. */
	attributes?: Html;
	content: Part;
}

/** Renders a whole page, with the header and the footer that all pages share. */
export function frameHtml(assets: Assets, { lang, root, title, head, other, ...main }: Frame): string {
	const texts = textsOf(lang);
	const otherLang = lang === "en" ? "fr" : "en";
	const home = `${root}${lang}/`;
	const item = (page: string, query: string, text: string) =>
		html`<li><a href="${home}${query}" data-page="${page}">${text}</a></li>`;
	const language = html`
<a class="language" href="${other}" hreflang="${otherLang}" lang="${otherLang}">${texts.otherLanguage}</a>`;
	const french = lang === "fr" ? "fr/" : "";
	const full = title === null ? texts.title : `${title} · ${texts.title}`;
	const body = html`<a class="skip" href="#main">${texts.skip}</a>
<header class="bar"><div class="head">
<a class="name" href="${home}" data-page="layers">${texts.title}</a>
<nav aria-label="${texts.menu}"><ul class="menu">
${item("layers", "", texts.navLayers)}
${item("health", "?page=health", texts.navHealth)}
${item("draft", "?page=draft", texts.navDraft)}
</ul></nav>${other !== null && language}
</div></header>
<main id="main"${main.attributes}>
${main.content}
</main>
<footer class="foot">
<p><a href="${root}guide/${french}">${texts.navGuide}</a> <a href="${root}list/${french}">${texts.navList}</a> <a href="${root}${feedPath}">${texts.navFeed}</a>
${texts.footer} <a href="${root}${manifestPath}">${texts.footerIndex}</a> <a href="${root}changes/index.json">${texts.footerChanges}</a>
<a href="${root}schemas/">${texts.footerSchemas}</a></p>
</footer>`;
	return documentHtml(lang, headOf(root, assets, full, head), body);
}
