import { langs } from "../../registry/smallkey.ts";
import { inBoth, textsIn } from "../text/static.ts";
import { documentHtml } from "./frame.ts";
import { html } from "./html.ts";

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
