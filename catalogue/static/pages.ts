import { manifestPath } from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { SiteSettings } from "../../site/page/settings.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import { feedPath, listFolders, openSearchFile } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Assets, escapeHtml, headOf, type PageAssets } from "./html.ts";
import { textsOf } from "./texts.ts";

function alternates(root: string): string {
	return `<link rel="alternate" hreflang="en" href="${root}en/">
<link rel="alternate" hreflang="fr" href="${root}fr/">
<link rel="alternate" hreflang="x-default" href="${root || "./"}">
<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">`;
}

/**
 * `en/index.html` or `fr/index.html`: the frame in which the script shows every view. The settings and the scripts that the
 * first rows need are named here, and the index's manifest is preloaded.
 * @param publicUrl address of the site with a slash at its end; empty where it is not known
 */
export function catalogueHtml(
	lang: Lang,
	assets: PageAssets,
	settings: SiteSettings,
	publicUrl: string,
): string {
	const texts = textsOf(lang);
	const t = (text: string) => escapeHtml(text);
	const search = publicUrl
		? `<link rel="search" type="application/opensearchdescription+xml" title="${t(texts.title)}" href="../${openSearchFile(lang)}">\n`
		: "";
	return frameHtml(assets, {
		lang,
		root: "../",
		title: null,
		head: `<meta name="description" content="${t(texts.tagline)}">
${alternates("../")}
${search}<link rel="preload" as="fetch" crossorigin href="../${manifestPath}">
<script type="module" src="../${assets.script}"></script>
${assets.imports.map((path) => `<link rel="modulepreload" href="../${path}">`).join("\n")}
<script type="application/json" id="settings">${JSON.stringify(settings).replaceAll("<", "\\u003c")}</script>`,
		other: `../${lang === "en" ? "fr" : "en"}/`,
		attributes: ` data-land-light="../${assets.landLight}" data-land-dark="../${assets.landDark}" data-worker="../${assets.worker}"`,
		content: `<noscript><h1>${t(texts.title)}</h1><p>${t(texts.noScript)} <a href="../${listFolders[lang]}/">${t(texts.noScriptList)}</a>.</p></noscript>`,
	});
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
