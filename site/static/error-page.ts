import { type Lang, langs } from "../../registry/smallkey.ts";
import { documentHtml, frameHtml } from "./frame.ts";
import { type Html, html, inBoth, type PageSettings, textsIn } from "./html.ts";

/** Why the requested page cannot be shown: it does not exist, or the catalogue is still being built. */
export type ErrorKind = "no-page" | "building";

/** Seconds after which the page `building` reloads itself. */
export const reloadSeconds = 3;

/** The styles are in the page itself: on an error, other files may be missing, too. */
const errorStyles =
	"body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:10vh auto;padding:0 1.5rem;color:light-dark(#1b1f24,#e9edf1);background:light-dark(#fbfbf9,#14181d)}h1{font-size:1.4rem;margin-top:2rem}a{color:light-dark(#0b57a4,#8cc2ff)}";

/** What an error page says in one language. @param home relative address from the requested address to the site's root */
function sectionHtml(kind: ErrorKind, lang: Lang, home: string): Html {
	const { t } = textsIn[lang];
	const way = html` <a href="${home}${lang}/">${t("to-layers")}</a>`;
	return html`<section lang="${lang}">
<h1>${t(kind)}</h1>
<p>${t(`${kind}-hint`)}${kind !== "building" && way}</p>
</section>
`;
}

/**
 * Renders the page in place of one that does not exist, in the frame of the site. Pure.
 * @param lang of the frame; the text is in both languages, this one first
 * @param root relative address from the requested address to the site's root
 */
export function noPageHtml(lang: Lang, root: string, pages: PageSettings): string {
	const other = lang === "en" ? "fr" : "en";
	return frameHtml(pages, {
		...{ lang, root, other: null },
		title: textsIn[lang].t("no-page"),
		head: html`<meta name="robots" content="noindex">`,
		content: [lang, other].map((one) => sectionHtml("no-page", one as Lang, root)),
	});
}

/**
 * Renders a small page in both languages that needs no other file. Pure.
 * @param home relative address from the requested address to the site's root
 */
export function errorHtml(kind: ErrorKind, home: string): string {
	const head = html`<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${kind === "building" && html`<meta http-equiv="refresh" content="${reloadSeconds}">`}
<title>${inBoth(kind)}</title>
<style>${errorStyles}</style>`;
	return documentHtml("en", head, html`<main>\n${langs.map((lang) => sectionHtml(kind, lang, home))}</main>`);
}
