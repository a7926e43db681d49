import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { type Entry, manifestPath, recentPath } from "../data/entries.ts";
import { inBoth, siteName, textsIn } from "../text/static.ts";
import { feedPath, listFolders } from "./addresses.ts";
import { type Assets, Html, html, type PageData, type PageSettings, type Part, scriptData } from "./html.ts";

/**
 * Scripts and styles of the site only, none inline; images and requests from any map service.
 * @param isSecure https only; otherwise services over http are allowed, too
 */
export function contentPolicy(isSecure: boolean): string {
	const services = isSecure ? "https:" : "https: http:";
	return [
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		`img-src 'self' data: blob: ${services}`,
		`connect-src 'self' ${services}`,
		"base-uri 'none'",
		"form-action 'none'",
	].join("; ");
}

interface Frame {
	lang: Lang;
	/** Relative address from the page to the site's root, such as `../`. */
	root: string;
	title: string | null;
	head?: Part;
	other: string | null;
	/** Of the element `main`. */
	className?: string;
	content: Part;
}

export function frameHtml(
	pages: PageSettings,
	{ lang, root, title, head, other, className = "", content }: Frame,
): string {
	const { assets, site } = pages;
	const { contact, terms } = site;
	const { t } = textsIn[lang];
	const name = siteName(site, lang);
	const home = `${root}${lang}/`;
	const menu: [address: string, text: string, view?: string][] = [
		["", t("layers"), "layers"],
		["changes/", t("changes")],
		["?health=sick", t("health")],
		["?page=draft", t("try-draft"), "draft"],
	];
	const items = menu.map(([address, text, view]) => {
		const isHere = address && other === `${root}${otherLang[lang]}/${address}` && html` aria-current="page"`;
		return html`<li><a href="${home}${address}"${view && html` data-page="${view}"`}${isHere}>${text}</a></li>\n`;
	});
	const language = html`
<a class="language" href="${other}" hreflang="${otherLang[lang]}" lang="${otherLang[lang]}">${t("other-language")}</a>`;
	const french = lang === "fr" ? "fr/" : "";
	const to = contact.includes("://") ? contact : `mailto:${contact}`;
	const contactLink = contact && html`<a href="${to}">${t("contact")}</a> `;
	const termsLink = terms && html`<a href="${terms[lang]}">${t("terms")}</a>`;
	const full = title === null ? name : `${title} · ${name}`;
	const body = html`<a class="skip" href="#main">${t("skip")}</a>
<header class="bar"><div class="head">
${signatureHtml(assets, root)}<a class="name" href="${home}" data-page="layers">${name}</a>
<nav aria-label="${t("main-menu")}"><ul class="menu">
${items}</ul></nav>${other !== null && language}
</div></header>
<main id="main"${className && html` class="${className}"`}>
${content}
</main>
<footer class="foot">
<p><a href="${root}guide/${french}">${t("guide")}</a> <a href="${root}list/${french}">${t("plain-list")}</a> <a href="${root}${feedPath}">${t("feed")}</a>
${t("for-machines")} <a href="${root}${manifestPath}">${t("index")}</a> <a href="${root}${recentPath}">${t("changes").toLowerCase()}</a>
<a href="${root}schemas/openapi.json">OpenAPI</a></p>
${(contactLink || termsLink) && html`<p>${contactLink}${termsLink}</p>\n`}</footer>`;
	return documentHtml(lang, headOf(root, pages, full, head), body);
}

function signatureHtml({ signature }: Assets, root: string): Part {
	if (!signature) return null;
	const { path, title, width, height } = signature;
	return html`<img class="signature" src="${root}${path}" alt="${title}" width="${width}" height="${height}">\n`;
}

export function headOf(root: string, { assets, publicUrl }: PageSettings, title: string, more: Part): Html {
	return html`<meta http-equiv="Content-Security-Policy" content="${new Html(contentPolicy(publicUrl.startsWith("https:")))}">
<meta name="referrer" content="strict-origin-when-cross-origin">
<title>${title}</title>
<link rel="stylesheet" href="${root}${assets.styles}">
${assets.theme && html`<link rel="stylesheet" href="${root}${assets.theme}">\n`}<link rel="icon" type="image/svg+xml" href="${root}${assets.icon}">
${more}`;
}

function alternates(root: string): Html {
	return html`<link rel="alternate" hreflang="en" href="${root}en/">
<link rel="alternate" hreflang="fr" href="${root}fr/">
<link rel="alternate" hreflang="x-default" href="${root || "./"}">
<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">`;
}

/** `en/index.html`: the script shows every view in it. Preloading lets the first rows appear sooner. */
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

/** The script, and what it reads. @param entry the layer whose page it is */
export function scriptHead(
	lang: Lang,
	root: string,
	{ assets, site }: PageSettings,
	entry: Entry | null = null,
): Html {
	const { land, worker } = assets;
	const texts = lang === "fr" ? assets.french : assets.english;
	const imports = new Set([...assets.imports, texts, ...(entry ? assets.layerImports : [])]);
	const data: PageData = { site, root, land, worker, entry };
	return html`<script type="module" src="${root}${assets.script}"></script>
${[...imports].map((path) => html`<link rel="modulepreload" href="${root}${path}">\n`)}
<script type="application/json" id="data">${scriptData(data)}</script>`;
}

/** `index.html`: its script chooses the browser's language; without a script the page is two links. */
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

export function documentHtml(lang: Lang, head: Part, body: Part): string {
	return html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
</head>
<body>
${body}
</body>
</html>
`.text;
}

export type ErrorKind = "no-page" | "building";

export const reloadSeconds = 3;

/** In the page itself: on an error, other files may be missing, too. Colours are the browser's, light or dark. */
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
