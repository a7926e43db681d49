import { feedPath } from "../../registry/index/changes.ts";
import { indexPath } from "../../registry/index/index.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import type { Texts } from "../../site/text/texts.ts";
import { type Assets, escapeHtml, headOf } from "./html.ts";

/** The texts of a language. */
export function textsOf(lang: Lang): Texts {
	return lang === "fr" ? french : english;
}

function alternates(root: string): string {
	return `<link rel="alternate" hreflang="en" href="${root}en/">
<link rel="alternate" hreflang="fr" href="${root}fr/">
<link rel="alternate" hreflang="x-default" href="${root || "./"}">
<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">`;
}

/** `en/index.html` or `fr/index.html`: the frame in which the script shows every view. */
export function catalogueHtml(lang: Lang, assets: Assets): string {
	const texts = textsOf(lang);
	const other = lang === "en" ? "fr" : "en";
	const t = (text: string) => escapeHtml(text);
	return `<!doctype html>
<html lang="${lang}">
<head>
${headOf("../", assets, texts.title, `<meta name="description" content="${t(texts.tagline)}">\n${alternates("../")}`)}
<script type="module" src="../${assets.script}"></script>
</head>
<body>
<a class="skip" href="#main">${t(texts.skip)}</a>
<header class="bar"><div class="head">
<a class="name" href="./" data-page="layers">${t(texts.title)}</a>
<nav aria-label="${t(texts.menu)}"><ul class="menu">
<li><a href="./" data-page="layers">${t(texts.navLayers)}</a></li>
<li><a href="?page=health" data-page="health">${t(texts.navHealth)}</a></li>
<li><a href="?page=draft" data-page="draft">${t(texts.navDraft)}</a></li>
</ul></nav>
<a class="language" href="../${other}/" hreflang="${other}" lang="${other}">${t(texts.otherLanguage)}</a>
</div></header>
<main id="main" data-land-light="../${assets.landLight}" data-land-dark="../${assets.landDark}">
<noscript><h1>${t(texts.title)}</h1><p>${t(texts.noScript)} <a href="../list/">${t(texts.noScriptList)}</a>.</p></noscript>
</main>
<footer class="foot">
<p><a href="../guide/${lang === "fr" ? "fr/" : ""}">${t(texts.navGuide)}</a> <a href="../list/">${t(texts.navList)}</a> <a href="../${feedPath}">${t(texts.navFeed)}</a>
${t(texts.footer)} <a href="../${indexPath}">${t(texts.footerIndex)}</a> <a href="../changes/index.json">${t(texts.footerChanges)}</a>
<a href="../schemas/">${t(texts.footerSchemas)}</a></p>
</footer>
</body>
</html>
`;
}

/** `index.html`: chooses by the browser's language; without a script it is two links. */
export function rootHtml(assets: Assets): string {
	const link = (lang: Lang) =>
		`<li><a href="${lang}/" hreflang="${lang}" lang="${lang}">${lang === "en" ? "English" : "Français"}</a></li>`;
	return `<!doctype html>
<html lang="en">
<head>
${headOf("", assets, `${english.title} · ${french.title}`, alternates(""))}
<script type="module" src="${assets.choose}"></script>
</head>
<body>
<main>
<h1>${escapeHtml(english.title)} <span lang="fr">· ${escapeHtml(french.title)}</span></h1>
<ul class="start">${link("en")}${link("fr")}</ul>
</main>
</body>
</html>
`;
}
