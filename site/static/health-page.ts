import { causeIn, mondayOf } from "../../registry/health.ts";
import { type Lang, otherLang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { hostsOf, senderOf, slugOf, stateOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { pageFolder, publisherAddress, repairPulls } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings, type Part, root } from "./html.ts";
import { layerHref } from "./layer-page.ts";
import type { ListData } from "./publishers.ts";

type SickEntry = Entry & { health: NonNullable<Entry["health"]> };

export function isSick(entry: Entry): entry is SickEntry {
	return Boolean(entry.health);
}

/** `index/health.json` and the tables of publishers have all layers. */
const maxRows = 2_000;

export function healthHtml(lang: Lang, data: ListData): string {
	const { report, settings, entryOf } = data;
	const { t, plural } = textsIn[lang];
	const { checked = 0, unchecked = 0, groups = [] } = report ?? {};
	const owners = new Map(
		groups.flatMap(({ owner, layers }) => layers.map(({ smallkey }) => [smallkey, owner] as const)),
	);
	const sick = [...owners.keys()].flatMap((smallkey) => entryOf(smallkey) ?? []).filter(isSick);
	// Longest sick first.
	const orderOf = ({ smallkey, health }: SickEntry) => `${health.since} ${smallkey}`;
	sick.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
	const publisherLink = (entry: Entry) => {
		const slug = slugOf(entry);
		return slug && html`<a href="${root}${publisherAddress(lang, slug)}">${senderOf(entry, lang)}</a>`;
	};
	const columns: Column<SickEntry>[] = [
		[t("publisher"), publisherLink],
		[t("what-was-seen"), (entry) => healthCell(lang, entry, settings)],
		[t("service-host"), (entry) => hostsOf(entry).join(" ")],
		[t("since-the-week"), ({ health }) => dayHtml(new Date(mondayOf(health.since)).toISOString())],
		[t("who-can-correct"), ({ smallkey }) => owners.get(smallkey)],
	];
	const facts = [
		plural(checked, "layers-checked"),
		unchecked > 0 && plural(unchecked, "layers-unchecked"),
		sick.length > 0 ? plural(sick.length, "layers-sick") : checked > 0 && `${t("state-ok")}.`,
	];
	return frameHtml(settings, {
		lang,
		root,
		title: t("health-title"),
		here: "health",
		className: "tables",
		other: root + pageFolder(otherLang[lang], "health"),
		content: html`<h1>${t("health-title")}</h1>
<p>${t("health-intro")}</p>
<p>${report ? facts.filter(Boolean).join(" ") : t("no-health-report")}</p>
${sick.length > 0 && layerTable(lang, sick, columns, settings)}`,
	});
}

/** With the cause, and whether a repair waits. */
export function healthCell(lang: Lang, entry: Entry, { site }: PageSettings): Html {
	const { t, causes, stateText } = textsIn[lang];
	const health = entry.health ?? {};
	const { text, lang: causeLang } = causeIn(lang, causes, health);
	const cause = text && html`${t("colon")} <span lang="${causeLang}">${text}</span>`;
	const badge = html`<span class="badge">${t("repair-proposed")}</span>`;
	const pulls = repairPulls(site);
	const repair = pulls === "" ? badge : html`<a href="${pulls}">${badge}</a>`;
	return html`${stateText(stateOf(entry))}${cause}${entry.health?.repair && html`. ${repair}`}`;
}

type Column<Row> = readonly [name: string, cell: (row: Row) => Part];

/** A row for each layer, with its title first. */
export function layerTable<Row extends Entry>(
	lang: Lang,
	rows: readonly Row[],
	columns: readonly Column<Row>[],
	settings: PageSettings,
): Html {
	const { t } = textsIn[lang];
	const heads = [t("layer"), ...columns.map(([name]) => name)];
	const lines = rows.slice(0, maxRows).map((row) => {
		const cells = columns.map(
			([name, cell]) => html`<td data-label="${name}${t("colon")}">${cell(row) || "–"}</td>`,
		);
		const href = layerHref(lang, row.smallkey, settings);
		return html`<tr><th scope="row"><a href="${href}">${titleOf(row, lang)}</a></th>${cells}</tr>\n`;
	});
	return html`${rows.length > maxRows && html`<p>${t("first-rows", maxRows)}</p>`}
<table class="sick"><thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${lines}</tbody></table>`;
}

/** @param time in ISO 8601 */
export function dayHtml(time: string | undefined): Part {
	return time && html`<time datetime="${time}">${time.slice(0, 10)}</time>`;
}
