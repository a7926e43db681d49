import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import type { Texts } from "../../site/text/texts.ts";
import { escapeHtml } from "./html.ts";

/** A text in both languages, where a page is in one only. */
export function both(get: (texts: Texts) => string): string {
	const [en, fr] = [get(english), get(french)];
	if (en === fr) return escapeHtml(en);
	return `${escapeHtml(en)} <span lang="fr">· ${escapeHtml(fr)}</span>`;
}
