import type { Lang } from "../../registry/smallkey.ts";
import { langs } from "../../registry/smallkey.ts";
import { escapeHtml } from "./html.ts";
import { staticTexts } from "./texts.ts";

/** What a page says in place of the one that was asked for. */
export type ErrorKind = "notFound" | "badRequest" | "building";

/** Seconds after which a page that waits for the catalogue loads itself again. */
export const reloadSeconds = 3;

/**
 * A small page in both languages that needs no other file. Pure.
 * @param home from the address that was asked for to the site's root
 */
export function errorHtml(kind: ErrorKind, home: string): string {
	const title = langs.map((lang) => staticTexts[lang][kind]).join(" · ");
	const part = (lang: Lang) => {
		const texts = staticTexts[lang];
		const way =
			kind === "building" ? "" : ` <a href="${escapeHtml(home)}${lang}/">${escapeHtml(texts.home)}</a>`;
		return `<section lang="${lang}">\n<h1>${escapeHtml(texts[kind])}</h1>\n<p>${escapeHtml(texts[`${kind}Hint`])}${way}</p>\n</section>`;
	};
	const reload = kind === "building" ? `<meta http-equiv="refresh" content="${reloadSeconds}">\n` : "";
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${reload}<title>${escapeHtml(title)}</title>
</head>
<body>
<main>
${langs.map(part).join("\n")}
</main>
</body>
</html>
`;
}
