import { manifestPath } from "../../registry/entries.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { SiteSettings } from "../../site/page/settings.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import { feedPath, listFolders, openSearchFile } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Assets, documentHtml, type Html, headOf, html, type PageAssets, scriptData } from "./html.ts";
import { textsOf } from "./texts.ts";

function alternates(root: string): Html {
	return html`<link rel="alternate" hreflang="en" href="${root}en/">
<link rel="alternate" hreflang="fr" href="${root}fr/">
<link rel="alternate" hreflang="x-default" href="${root || "./"}">
<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">`;
}

/**
 * Renders `en/index.html` or `fr/index.html`: the page in which the script shows every view. It contains the settings and
 * preloads the scripts and the index's manifest, so that the first rows appear sooner.
 * @param publicUrl address of the site with a slash at its end; empty if unknown
 */
export function catalogueHtml(
	lang: Lang,
	assets: PageAssets,
	settings: SiteSettings,
	publicUrl: string,
): string {
	const texts = textsOf(lang);
	const search = html`<link rel="search" type="application/opensearchdescription+xml" title="${texts.title}" href="../${openSearchFile(lang)}">`;
	return frameHtml(assets, {
		lang,
		root: "../",
		title: null,
		head: html`<meta name="description" content="${texts.tagline}">
${alternates("../")}
${publicUrl && search}<link rel="preload" as="fetch" crossorigin href="../${manifestPath}">
<script type="module" src="../${assets.script}"></script>
${assets.imports.map((path) => html`<link rel="modulepreload" href="../${path}">\n`)}
<script type="application/json" id="settings">${scriptData(settings)}</script>`,
		other: `../${lang === "en" ? "fr" : "en"}/`,
		attributes: html` data-land-light="../${assets.landLight}" data-land-dark="../${assets.landDark}" data-worker="../${assets.worker}"`,
		content: html`<noscript><h1>${texts.title}</h1><p>${texts.noScript} <a href="../${listFolders[lang]}/">${texts.noScriptList}</a>.</p></noscript>`,
	});
}

/** Renders `index.html`: its script chooses the browser's language; without a script the page is two links. */
export function rootHtml(assets: Assets): string {
	const head = html`${headOf("", assets, `${english.title} · ${french.title}`, alternates(""))}
<script type="module" src="${assets.choose}"></script>`;
	const link = (lang: Lang, name: string) =>
		html`<li><a href="${lang}/" hreflang="${lang}" lang="${lang}">${name}</a></li>`;
	const body = html`<main>
<h1>${english.title} <span lang="fr">· ${french.title}</span></h1>
<ul class="start">${link("en", "English")}${link("fr", "Français")}</ul>
</main>`;
	return documentHtml("en", head, body);
}
