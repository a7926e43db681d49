import type { Lang } from "../../registry/smallkey.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import type { Texts } from "../../site/text/texts.ts";
import { type Assets, escapeHtml, headOf } from "./html.ts";
import { textsOf } from "./pages.ts";

/** Both languages beside each other, as the pages without a script have everything. */
export function both(get: (texts: Texts) => string): string {
	const [en, fr] = [get(english), get(french)];
	if (en === fr) return escapeHtml(en);
	return `${escapeHtml(en)} <span lang="fr">· ${escapeHtml(fr)}</span>`;
}

/**
 * A page without a script, one folder below the site's root, in both languages at once.
 * @param title of the page in one language
 */
export function bilingualHtml(assets: Assets, title: (texts: Texts) => string, content: string): string {
	const name = `${title(english)} · ${title(french)}`;
	const more = `<link rel="alternate" hreflang="en" href="../en/">\n<link rel="alternate" hreflang="fr" href="../fr/">`;
	const link = (lang: Lang) =>
		`<a href="../${lang}/" hreflang="${lang}" lang="${lang}">${escapeHtml(textsOf(lang).title)}</a>`;
	return `<!doctype html>
<html lang="en">
<head>
${headOf("../", assets, name, more)}
</head>
<body>
<header class="bar"><div class="head">${link("en")} ${link("fr")} <a href="../list/">${both((texts) => texts.listPages)}</a></div></header>
<main>
<h1>${both(title)}</h1>
${content}
</main>
</body>
</html>
`;
}
