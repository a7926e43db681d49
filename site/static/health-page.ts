import { causeIn, mondayOf } from "../../registry/health.ts";
import { type Lang, otherLang } from "../../registry/smallkey.ts";
import type { Entry, HealthReport, SickLayer } from "../data/entries.ts";
import { hostsOf, senderOf, slugOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { healthFolders, publisherAddress, repairAddress, repairPlace } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings, type Part, root } from "./html.ts";
import { layerHref } from "./layer-page.ts";
import type { Lists } from "./publishers.ts";

interface SickRow extends SickLayer, Pick<Entry, "sender"> {
	hosts: readonly string[];
	/** Empty if the repository has no owner of the layer. */
	owner: string;
}

export function sickOf(entry: Entry, owner = ""): SickRow {
	const { smallkey, title, health, sender } = entry;
	if (!health) throw new Error(`${smallkey}: has no problem`);
	return { smallkey, title, ...health, ...(sender && { sender }), hosts: hostsOf(entry), owner };
}

/** `index/health.json` has all layers. */
const maxRows = 2_000;
const maxCauses = 10;

export function healthHtml(
	lang: Lang,
	{ report, settings, lastLook, entryOf }: Omit<Lists, "changes"> & { report: HealthReport | null },
): string {
	const sick = (report?.groups ?? []).flatMap(({ owner, layers }) =>
		layers.flatMap(({ smallkey }) => {
			const entry = entryOf(smallkey);
			return entry?.health ? sickOf(entry, owner) : [];
		}),
	);
	const { t, plural } = textsIn[lang];
	const { checked = 0, unchecked = 0 } = report ?? {};
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
		hasTables: true,
		other: `${root}${healthFolders[otherLang[lang]]}/`,
		content: html`<h1>${t("health-title")}</h1>
<p>${t("health-intro")}</p>
<p>${report ? facts.filter(Boolean).join(" ") : t("no-health-report")}</p>
${settings.site.canSend && html`<p><a href="${root}${repairAddress(lang)}">${t("all-repairs")}</a></p>\n`}${sick.length > 0 && html`${causeCounts(lang, sick)}\n${sickTable(lang, sick, { settings, lastLook, isOnePublisher: false })}`}`,
	});
}

function causeCounts(lang: Lang, rows: readonly SickRow[]): Html {
	const { t, stateText } = textsIn[lang];
	const counts = new Map<string, { row: SickRow; count: number }>();
	for (const row of rows) {
		const key = `${row.state} ${row.cause ?? ""}`;
		counts.set(key, { row, count: (counts.get(key)?.count ?? 0) + 1 });
	}
	const sorted = [...counts.values()].sort((a, b) => b.count - a.count);
	const others = sorted.slice(maxCauses).reduce((sum, { count }) => sum + count, 0);
	const items = sorted
		.slice(0, maxCauses)
		.map(
			({ row, count }) =>
				html`<li><strong>${count}</strong> <span>${stateText(row.state)}${causeText(lang, row)}</span></li>\n`,
		);
	return html`<h2>${t("by-cause")}</h2>
<ul class="counts">
${items}${others > 0 && html`<li><strong>${others}</strong> <span>${t("other-causes")}</span></li>`}</ul>`;
}

function causeText(lang: Lang, sickness: SickLayer): Part {
	const { t, causes } = textsIn[lang];
	const { text, lang: causeLang } = causeIn(lang, causes, sickness);
	return text && html`${t("colon")} <span lang="${causeLang}">${text}</span>`;
}

type Column<Row> = readonly [name: string, cell: (row: Row) => Part];

/** A row for each layer, with its title first. */
export function layerTable<Row extends Pick<Entry, "smallkey" | "title">>(
	lang: Lang,
	rows: readonly Row[],
	columns: readonly Column<Row>[],
	settings: PageSettings,
): Html {
	const { t } = textsIn[lang];
	const heads = [t("layer"), ...columns.map(([name]) => name)];
	const lines = rows.map((row) => {
		const cells = columns.map(
			([name, cell]) => html`<td data-label="${name}${t("colon")}">${cell(row) || "–"}</td>`,
		);
		const href = layerHref(lang, row.smallkey, settings);
		return html`<tr><th scope="row"><a href="${href}">${titleOf(row, lang)}</a></th>${cells}</tr>\n`;
	});
	return html`<table class="sick sortable"><thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${lines}</tbody></table>`;
}

/** Longest sick first. @param isOnePublisher whether all are of one publisher, whose name is left out */
export function sickTable(
	lang: Lang,
	rows: readonly SickRow[],
	{ settings, lastLook, isOnePublisher }: Pick<Lists, "settings" | "lastLook"> & { isOnePublisher: boolean },
): Html {
	const { t, stateText } = textsIn[lang];
	const { site } = settings;
	const publisherLink = (row: SickRow) => {
		const slug = slugOf(row);
		return slug && html`<a href="${root}${publisherAddress(lang, slug)}">${senderOf(row, lang)}</a>`;
	};
	const repairLink = (smallkey: string) => {
		const place = repairPlace(lang, smallkey, site);
		const badge = html`<span class="badge">${t("repair-proposed")}</span>`;
		return place === "" ? badge : html`<a href="${site.canSend ? root : ""}${place}">${badge}</a>`;
	};
	const finding = (row: SickRow) =>
		html`${stateText(row.state)}${causeText(lang, row)}${row.repair && html`. ${repairLink(row.smallkey)}`}`;
	const hasOwners = rows.some(({ owner }) => owner !== "");
	const columns: (Column<SickRow> | false)[] = [
		!isOnePublisher && [t("publisher"), publisherLink],
		[t("what-was-seen"), finding],
		[t("service-host"), ({ hosts }) => hosts.join(" ")],
		[t("since-the-week"), ({ since }) => dayHtml(mondayOf(since))],
		lastLook !== null && [t("last-look"), ({ smallkey }) => dayHtml(lastLook(smallkey))],
		hasOwners && [t("who-can-correct"), ({ owner }) => owner],
	];
	const shown = columns.filter((column) => column !== false);
	return html`${rows.length > maxRows && html`<p>${t("first-rows", maxRows)}</p>`}
${layerTable(lang, longestFirst(rows).slice(0, maxRows), shown, settings)}`;
}

/** @param time in milliseconds since 1970, or in ISO 8601 */
export function dayHtml(time: number | string | null | undefined): Part {
	if (time === null || time === undefined) return null;
	const date = new Date(time).toISOString();
	const day = date.slice(0, 10);
	return html`<time datetime="${typeof time === "string" ? time : day}">${day}</time>`;
}

function longestFirst(rows: readonly SickRow[]): SickRow[] {
	const order = ({ since, smallkey }: SickRow) => `${since} ${smallkey}`;
	return [...rows].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
