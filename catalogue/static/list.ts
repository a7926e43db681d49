import type { Entry } from "../../registry/entries.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { targetPath } from "../../registry/targets/table.ts";
import { addressOf, titleOf } from "../../site/search/entry.ts";
import { sortKey } from "../../site/search/words.ts";
import { layerAddress, listFile, listFolders } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings } from "./html.ts";
import { textsIn } from "./texts.ts";

const layersPerPage = 200;

/** Number of pages of the plain list. */
export function listPages(layers: number): number {
	return Math.max(Math.ceil(layers / layersPerPage), 1);
}

/** Sorts layers by their titles in a language; equal titles by smallkey. */
export function byTitle(entries: readonly Entry[], lang: Lang): Entry[] {
	const ordered = entries.map((entry) => ({
		entry,
		order: `${sortKey(titleOf(entry, lang))}\0${entry.smallkey}`,
	}));
	return ordered.sort((one, other) => (one.order < other.order ? -1 : 1)).map(({ entry }) => entry);
}

/**
 * Renders one page of the plain list: all layers by title, for readers without a script. Pure.
 * @param sorted all layers, sorted by `byTitle`
 * @param page counted from 1
 * @returns null if there is no such page
 */
export function listHtml(
	lang: Lang,
	sorted: readonly Entry[],
	page: number,
	settings: PageSettings,
): string | null {
	const pages = listPages(sorted.length);
	if (page < 1 || page > pages) return null;
	const { t, plural } = textsIn[lang];
	const root = "../".repeat(listFolders[lang].split("/").length);
	const other = lang === "en" ? "fr" : "en";
	const shown = sorted.slice((page - 1) * layersPerPage, page * layersPerPage);
	const at = (number: number, text: string, rel?: string) =>
		html`<a href="${root}${listFile(lang, number)}"${rel && html` rel="${rel}"`}>${text}</a> `;
	const others = Array.from({ length: pages }, (_, index) =>
		index + 1 === page ? html`<span aria-current="page">${page}</span> ` : at(index + 1, String(index + 1)),
	);
	const rows = shown.map((entry) => rowHtml(entry, lang, root, settings));
	const previous = page > 1 && at(page - 1, t("Previous page"), "prev");
	const next = page < pages && at(page + 1, t("Next page"), "next");
	const content = html`<h1>${t("All layers")}</h1>
<p>${shown.length === 0 ? t("No layer is registered yet.") : plural(sorted.length, "{0} layer, by title", "{0} layers, by title")}</p>
${shown.length > 0 && html`<ul class="plain">\n${rows}</ul>`}
${
	pages > 1 &&
	html`<nav aria-label="${t("Pages")}"><p>${t("Page {0} of {1}", page, pages)} ${previous}${next}</p>
<p>${others}</p></nav>`
}`;
	return frameHtml(settings.assets, {
		lang,
		root,
		title: page === 1 ? t("All layers") : `${t("All layers")} (${page})`,
		other: root + listFile(other, page),
		content,
	});
}

function rowHtml(entry: Entry, lang: Lang, root: string, { targets, hasLayerPages }: PageSettings): Html {
	const { smallkey, unread = [] } = entry;
	const title = titleOf(entry, lang);
	const name = hasLayerPages ? html`<a href="${root}${layerAddress(lang, smallkey)}">${title}</a>` : title;
	const key = encodeURIComponent(smallkey);
	const reads = targets.flatMap((target) =>
		langs
			.filter((one) => !unread.includes(`${target}/${one}`))
			.map((one) => html` <a href="${root}${targetPath(target, one, key)}">${target}&nbsp;${one}</a>`),
	);
	// A layer page shows the address and the fragments itself.
	const more = !hasLayerPages && html` <span class="address">${addressOf(entry, lang)}</span>${reads}`;
	return html`<li>${name} <code>${smallkey}</code>${more}</li>\n`;
}
