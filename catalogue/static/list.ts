import type { Entry } from "../../registry/index/entry.ts";
import { orderedText, readOrdered, textOfBits } from "../../registry/index/ordered.ts";
import { byteLength, readShapeFile, type SetKind, shapeFile } from "../../registry/index/set.ts";
import { nameOfPath, Shape } from "../../registry/index/shape.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { targetOf } from "../../registry/targets/table.ts";
import type { Texts } from "../../site/text/texts.ts";
import { bilingualHtml, both } from "./bilingual.ts";
import { type Assets, escapeHtml } from "./html.ts";

/** One layer of the plain list: a row of HTML. */
export interface ListRow {
	smallkey: string;
	html: string;
}

/**
 * The row of a layer.
 * @param addresses of its service in both languages
 */
export function listRow(entry: Entry, addresses: Record<Lang, string>): ListRow {
	const { smallkey, title, type, health, fragments } = entry;
	const key = encodeURIComponent(smallkey);
	const titles = title.en === title.fr ? ["en" as const] : langs;
	const named = titles.map(
		(lang) => `<span class="block" lang="${lang}">${escapeHtml(title[lang] || smallkey)}</span>`,
	);
	const linked = (lang: Lang) => {
		const address = escapeHtml(addresses[lang]);
		return /^https?:/i.test(addresses[lang])
			? `<a class="block address" href="${address}" rel="noopener noreferrer">${address}</a>`
			: address;
	};
	const services = addresses.en === addresses.fr ? linked("en") : `${linked("en")}${linked("fr")}`;
	const reads = Object.keys(fragments)
		.sort()
		.flatMap((target) => {
			const folder = targetOf(target).doc;
			return langs
				.filter((lang) => fragments[target]?.[lang])
				.map((lang) => `<a class="reads" href="../${folder}/${lang}/${key}">${target}&nbsp;${lang}</a>`);
		});
	const sick =
		health &&
		`<span class="badge">${both((texts) => texts.states[health.state] ?? health.state)}, ${escapeHtml(health.since)}</span>`;
	const html = `<tr id="${escapeHtml(smallkey)}"><th scope="row">${named.join("")}<code>${escapeHtml(smallkey)}</code> ${escapeHtml(type)}</th><td>${services}</td><td>${sick ?? ""} ${reads.join(" ")}</td></tr>`;
	return { smallkey, html };
}

const listTitle = (texts: Texts) => texts.listTitle;

/** A row's smallkey, at its start. */
const rowStart = /^<tr id="([A-Za-z0-9_\-+=]{1,64})">/;

/** The plain list, cut by ranges of smallkeys: at most 100 layers a page, both languages on one. */
export function listKind(assets: Assets): SetKind<ListRow> {
	return {
		folder: "list",
		ending: ".html",
		maxThings: 100,
		maxBytes: 400_000,
		index: {
			path: "list/index.html",
			write: (shape) => listIndexHtml(assets, shape),
			read: readListIndex,
		},
		textOf: ({ smallkey }) => orderedText(smallkey.toLowerCase()),
		bytesOf: ({ html }) => byteLength(html) + 1,
		write: (rows) => pageHtml(assets, rows.map(({ html }) => html).join("\n")),
		read: (text) => {
			const rows = text.split("\n").flatMap((html) => {
				const smallkey = rowStart.exec(html)?.[1];
				return smallkey === undefined ? [] : [{ smallkey, html }];
			});
			return text.endsWith("</html>\n") ? rows : null;
		},
	};
}

function pageHtml(assets: Assets, rows: string): string {
	const head = [
		both((texts) => texts.healthLayer),
		both((texts) => texts.address),
		both((texts) => texts.fragments),
	].map((name) => `<th scope="col">${name}</th>`);
	return bilingualHtml(
		assets,
		listTitle,
		`<table class="plain">\n<thead><tr>${head.join("")}</tr></thead>\n<tbody>\n${rows}\n</tbody>\n</table>`,
	);
}

/** Every page of the list, by where it starts. It changes only when a page comes or goes. */
function listIndexHtml(assets: Assets, shape: Shape): string {
	const items = shape.paths.map((path, at) => {
		const from = at === 0 ? "" : startOf(path);
		const name = from === "" ? both((texts) => texts.listStart) : both((texts) => texts.listFrom(from));
		return `<li><a href="${nameOfPath(path)}.html">${name}</a></li>`;
	});
	const none = `<p>${both((texts) => texts.empty)}</p>`;
	const list = `<ul class="columns" data-shape="${escapeHtml(shapeFile(shape).trim())}">\n${items.join("\n")}\n</ul>`;
	return bilingualHtml(assets, listTitle, items.length === 0 ? none : list);
}

/** How the list is cut, by its index; null where that is not whole. */
function readListIndex(html: string): Shape | null {
	if (!html.endsWith("</html>\n")) return null;
	const shape = / data-shape="([^"]*)"/.exec(html)?.[1];
	return shape === undefined ? new Shape([]) : readShapeFile(shape.replaceAll("&quot;", '"'));
}

/** The beginning of smallkeys at which a path's range starts. */
function startOf(path: string): string {
	return readOrdered(textOfBits(path));
}
