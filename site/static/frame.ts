import { type Lang, otherLang } from "../../registry/smallkey.ts";
import { type Entry, manifestPath, recentPath } from "../data/entries.ts";
import { siteName, textsIn } from "../text/static.ts";
import { feedPath } from "./addresses.ts";
import { Html, html, type Part, scriptData } from "./html.ts";
import type { Assets, PageData, PageSettings, SiteSettings } from "./page-settings.ts";

/** Scripts and styles of the site only, none inline; images and requests from any map service. */
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
	/** The site's root from the page: `../`. */
	root: string;
	/** Null on the page of the whole site. */
	title: string | null;
	head?: Part;
	/** Address of the page in the other language. */
	other: string | null;
	className?: string;
	content: Part;
}

export function frameHtml(settings: PageSettings, frame: Frame): string {
	const { lang, root, title, head, other, className, content } = frame;
	const { assets, site } = settings;
	const { t } = textsIn[lang];
	const name = siteName(site, lang);
	const otherPage = html`
<a class="language" href="${other}" hreflang="${otherLang[lang]}" lang="${otherLang[lang]}">${t("other-language")}</a>`;
	const body = html`<a class="skip" href="#main">${t("skip")}</a>
<header class="bar"><div class="head">
${signatureHtml(assets, root)}<a class="name" href="${root}${lang}/" data-page="layers">${name}</a>
<nav aria-label="${t("main-menu")}"><ul class="menu">
${menuItems(frame)}</ul></nav>${other !== null && otherPage}
</div></header>
<main id="main"${className && html` class="${className}"`}>
${content}
</main>
${footHtml(frame, site)}`;
	return documentHtml(lang, headOf(root, settings, title === null ? name : `${title} · ${name}`, head), body);
}

function menuItems({ lang, root, other }: Frame): Part {
	const { t } = textsIn[lang];
	const item = (address: string, text: string, view = "") => {
		const isHere = address && other === `${root}${otherLang[lang]}/${address}` && html` aria-current="page"`;
		const page = view && html` data-page="${view}"`;
		return html`<li><a href="${root}${lang}/${address}"${page}${isHere}>${text}</a></li>\n`;
	};
	return [
		item("", t("layers"), "layers"),
		item("changes/", t("changes")),
		item("?health=sick", t("health")),
		item("?page=draft", t("try-draft"), "draft"),
	];
}

function footHtml({ lang, root }: Frame, { contact, terms }: SiteSettings): Html {
	const { t } = textsIn[lang];
	const folder = lang === "fr" ? "fr/" : "";
	const contactAddress = contact.includes("://") ? contact : `mailto:${contact}`;
	const contactLink = contact && html`<a href="${contactAddress}">${t("contact")}</a> `;
	const termsLink = terms && html`<a href="${terms[lang]}">${t("terms")}</a>`;
	return html`<footer class="foot">
<p><a href="${root}guide/${folder}">${t("guide")}</a> <a href="${root}list/${folder}">${t("plain-list")}</a> <a href="${root}${feedPath}">${t("feed")}</a>
${t("for-machines")} <a href="${root}${manifestPath}">${t("index")}</a> <a href="${root}${recentPath}">${t("changes").toLowerCase()}</a>
<a href="${root}schemas/openapi.json">OpenAPI</a></p>
${(contactLink || termsLink) && html`<p>${contactLink}${termsLink}</p>\n`}</footer>`;
}

export function signatureHtml({ signature }: Assets, root: string): Part {
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
