import { type Lang, langs } from "../../registry/smallkey.ts";
import { documentHtml, html } from "./html.ts";
import { staticTexts } from "./texts.ts";

/** What a page says in place of the one that was asked for. */
export type ErrorKind = "notFound" | "building";

/** Seconds after which a page that waits for the catalogue loads itself again. */
export const reloadSeconds = 3;

/** Small and in the page: where an error is, other files may be missing, too. */
const errorStyles =
	"body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:10vh auto;padding:0 1.5rem}h1{font-size:1.4rem;margin-top:2rem}";

/**
 * A small page in both languages that needs no other file. Pure.
 * @param home from the address that was asked for to the site's root
 */
export function errorHtml(kind: ErrorKind, home: string): string {
	const title = langs.map((lang) => staticTexts[lang][kind]).join(" · ");
	const isBuilding = kind === "building";
	const part = (lang: Lang) => {
		const texts = staticTexts[lang];
		const way = html` <a href="${home}${lang}/">${texts.home}</a>`;
		return html`<section lang="${lang}">
<h1>${texts[kind]}</h1>
<p>${texts[`${kind}Hint`]}${!isBuilding && way}</p>
</section>
`;
	};
	const head = html`<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${isBuilding && html`<meta http-equiv="refresh" content="${reloadSeconds}">`}
<title>${title}</title>
<style>${errorStyles}</style>`;
	return documentHtml("en", head, html`<main>\n${langs.map(part)}</main>`);
}
