import type { Lang } from "../../registry/smallkey.ts";
import { type Assets, escapeHtml, headOf } from "./html.ts";
import { textsOf } from "./pages.ts";

/** One page of the guide. */
export interface GuideFrame {
	lang: Lang;
	/** From the page to the site's root, such as `../`. */
	root: string;
	title: string;
	/** To the same page in the other language; null where there is none. */
	other: string | null;
	/** HTML. */
	content: string;
}

/** `guide/publish.html` and its like: a document of the project with the head of the catalogue. */
export function guideHtml(assets: Assets, { lang, root, title, other, content }: GuideFrame): string {
	const texts = textsOf(lang);
	const t = escapeHtml;
	const otherLang = lang === "en" ? "fr" : "en";
	const alternate = other === null ? "" : `<link rel="alternate" hreflang="${otherLang}" href="${other}">`;
	const language =
		other === null
			? ""
			: `\n<a class="language" href="${other}" hreflang="${otherLang}" lang="${otherLang}">${t(texts.otherLanguage)}</a>`;
	return `<!doctype html>
<html lang="${lang}">
<head>
${headOf(root, assets, `${title} · ${texts.title}`, alternate)}
</head>
<body>
<a class="skip" href="#main">${t(texts.skip)}</a>
<header class="bar"><div class="head">
<a class="name" href="${root}${lang}/">${t(texts.title)}</a>
<nav aria-label="${t(texts.menu)}"><ul class="menu">
<li><a href="${root}${lang}/">${t(texts.navLayers)}</a></li>
<li><a href="${root}guide/${lang === "fr" ? "fr/" : ""}">${t(texts.navGuide)}</a></li>
</ul></nav>${language}
</div></header>
<main id="main" class="guide">
${content}</main>
</body>
</html>
`;
}
