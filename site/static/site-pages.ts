import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { manifestPath } from "../data/entries.ts";
import { inBoth, siteName, textsIn } from "../text/static.ts";
import { feedPath, listFolders } from "./addresses.ts";
import { documentHtml, frameHtml, headOf, scriptHead, signatureHtml } from "./frame.ts";
import { type Html, html } from "./html.ts";
import type { PageSettings } from "./page-settings.ts";

function alternates(root: string): Html {
	return html`<link rel="alternate" hreflang="en" href="${root}en/">
<link rel="alternate" hreflang="fr" href="${root}fr/">
<link rel="alternate" hreflang="x-default" href="${root || "./"}">
<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">`;
}

/** `en/index.html`, in which the script shows every view. */
export function catalogueHtml(lang: Lang, pages: PageSettings): string {
	const { site, publicUrl } = pages;
	const { t } = textsIn[lang];
	const name = siteName(site, lang);
	return frameHtml(pages, {
		lang,
		root: "../",
		title: null,
		head: html`<meta name="description" content="${t("tagline")}">
<link rel="canonical" href="${publicUrl ? `${publicUrl}${lang}/` : "./"}">
${alternates("../")}
<link rel="preload" as="fetch" crossorigin href="../${manifestPath}">
${scriptHead(lang, "../", pages)}`,
		other: `../${otherLang[lang]}/`,
		content: html`<noscript><h1>${name}</h1><p>${t("needs-script")} <a href="../${listFolders[lang]}/">${t("plain-list")}</a></p></noscript>`,
	});
}

/** `index.html`: its script goes to the browser's language. */
export function rootHtml(pages: PageSettings): string {
	const { assets, site } = pages;
	const [en, fr] = [siteName(site, "en"), siteName(site, "fr")];
	const title = en === fr ? en : `${en} · ${fr}`;
	const head = html`${headOf("", pages, title, alternates(""))}
<script type="module" src="${assets.choose}"></script>`;
	const link = (lang: Lang, name: string) =>
		html`<li><a href="${lang}/" hreflang="${lang}" lang="${lang}">${name}</a></li>`;
	const body = html`<main>
${signatureHtml(assets, "")}<h1>${en}${en !== fr && html` <span lang="fr">· ${fr}</span>`}</h1>
<ul class="start">${link("en", "English")}${link("fr", "Français")}</ul>
</main>`;
	return documentHtml("en", head, body);
}

export type ErrorKind = "no-page" | "building";

export const reloadSeconds = 3;

/** On an error, other files may be missing, too. */
const errorStyles = `
html { background: Canvas; color: CanvasText }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 10vh auto; padding: 0 1.5rem }
h1 { font-size: 1.4rem; margin-top: 2rem }
`;

export function errorHtml(kind: ErrorKind, home: string): string {
	const head = html`<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${kind === "building" && html`<meta http-equiv="refresh" content="${reloadSeconds}">`}
<title>${inBoth(kind)}</title>
<style>${errorStyles}</style>`;
	const sections = langs.map((lang) => {
		const { t } = textsIn[lang];
		return html`<section lang="${lang}">
<h1>${t(kind)}</h1>
${kind === "no-page" && html`<p><a href="${home}${lang}/">${t("back-to-layers")}</a></p>\n`}</section>
`;
	});
	return documentHtml("en", head, html`<main>\n${sections}</main>`);
}
