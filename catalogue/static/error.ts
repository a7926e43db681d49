import { type Lang, langs } from "../../registry/smallkey.ts";
import { documentHtml, html } from "./html.ts";
import { staticTexts } from "./texts.ts";

/** Why the requested page cannot be shown: it does not exist, or the catalogue is still being built. */
export type ErrorKind = "notFound" | "building";

/** Seconds after which the page `building` reloads itself. */
export const reloadSeconds = 3;

/** The styles are in the page itself: on an error, other files may be missing, too. */
const errorStyles =
	"body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:10vh auto;padding:0 1.5rem}h1{font-size:1.4rem;margin-top:2rem}";

/**
 * Renders a small page in both languages that needs no other file. Pure.
 * @param home relative address from the requested address to the site's root
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
