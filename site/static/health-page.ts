import { causeIn, type HealthReport, mondayOf, type SickLayer } from "../../registry/health.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import { hostsOf, senderOf, slugOf, titleOf } from "../search/select.ts";
import { healthFolders, publisherAddress, repairAddress, repairPlace } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings, type Part, textsIn } from "./html.ts";
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

const root = "../../";

/** `index/health.json` has all layers. */
const maxRows = 2_000;
const maxCauses = 10;

export function healthHtml(lang: Lang, report: HealthReport | null, lists: Omit<Lists, "changes">): string {
	const { settings, lastLook, entryOf } = lists;
	const sick = (report?.groups ?? []).flatMap(({ owner, layers }) =>
		layers.flatMap(({ smallkey }) => {
			const entry = entryOf(smallkey);
			return entry?.health ? sickOf(entry, owner) : [];
		}),
	);
	const rows = longestFirst(sick);
	const { t, plural } = textsIn[lang];
	const { checked = 0, unchecked = 0 } = report ?? {};
	const facts = [
		plural(checked, "layers-checked"),
		unchecked > 0 && plural(unchecked, "layers-unchecked"),
		rows.length > 0 ? plural(rows.length, "layers-sick") : checked > 0 && `${t("state-ok")}.`,
	];
	return frameHtml(settings, {
		lang,
		root,
		title: t("health-title"),
		here: "health",
		head: html`<script type="module" src="${root}${settings.assets.tables}"></script>`,
		other: `${root}${healthFolders[lang === "en" ? "fr" : "en"]}/`,
		attributes: html` class="tables"`,
		content: html`<h1>${t("health-title")}</h1>
<p>${t("health-intro")}</p>
<p>${report ? facts.filter(Boolean).join(" ") : t("no-health-report")}</p>
${settings.site.canSend && html`<p><a href="${root}${repairAddress(lang)}">${t("all-repairs")}</a></p>\n`}${rows.length > 0 && html`${causeCounts(lang, rows)}\n${sickTable(lang, rows, { root, settings, lastLook, isOnePublisher: false })}`}`,
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

/** Longest sick first. @param isOnePublisher whether all are of one publisher, whose name is left out */
export function sickTable(
	lang: Lang,
	rows: readonly SickRow[],
	{
		root,
		settings,
		lastLook,
		isOnePublisher,
	}: { root: string; settings: PageSettings; lastLook: Lists["lastLook"]; isOnePublisher: boolean },
): Html {
	const { t, stateText } = textsIn[lang];
	const hasOwners = rows.some(({ owner }) => owner !== "");
	const columns: [name: string, cell: (row: SickRow) => Part][] = [
		...(isOnePublisher ? [] : [[t("publisher"), publisherLink] as [string, (row: SickRow) => Part]]),
		[t("what-was-seen"), finding],
		[t("service-host"), ({ hosts }) => hosts.join(" ")],
		[t("since-the-week"), ({ since }) => dateOf(mondayOf(since))],
		...(lastLook
			? [[t("last-look"), ({ smallkey }) => dateOf(lastLook(smallkey))] as [string, (row: SickRow) => Part]]
			: []),
		...(hasOwners ? [[t("who-can-correct"), ({ owner }) => owner] as [string, (row: SickRow) => Part]] : []),
	];
	const lines = longestFirst(rows)
		.slice(0, maxRows)
		.map((row) => {
			const link = html`<a href="${layerHref(root, lang, row.smallkey, settings)}">${titleOf(row, lang)}</a>`;
			const cells = columns.map(
				([name, cell]) => html`<td data-label="${name}${t("colon")}">${cell(row) || "–"}</td>`,
			);
			return html`<tr><th scope="row">${link}</th>${cells}</tr>\n`;
		});
	return html`${rows.length > maxRows && html`<p>${t("first-rows", maxRows)}</p>`}
<table class="sick sortable"><thead><tr><th scope="col">${t("layer")}</th>${columns.map(([name]) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${lines}</tbody></table>`;

	function publisherLink(row: SickRow): Part {
		const slug = slugOf(row);
		return slug && html`<a href="${root}${publisherAddress(lang, slug)}">${senderOf(row, lang)}</a>`;
	}

	function finding(row: SickRow): Part {
		const { smallkey, state, repair } = row;
		return html`${stateText(state)}${causeText(lang, row)}${repair && html`. ${repairLink(smallkey)}`}`;
	}

	function repairLink(smallkey: string): Part {
		const { site } = settings;
		const place = repairPlace(lang, smallkey, site);
		const text = html`<span class="badge">${t("repair-proposed")}</span>`;
		return place === "" ? text : html`<a href="${site.canSend ? root : ""}${place}">${text}</a>`;
	}

	function dateOf(ms: number | null): Part {
		if (ms === null) return null;
		const day = new Date(ms).toISOString().slice(0, 10);
		return html`<time datetime="${day}">${day}</time>`;
	}
}

function longestFirst(rows: readonly SickRow[]): SickRow[] {
	return [...rows].sort((a, b) => compare(a.since, b.since) || compare(a.smallkey, b.smallkey));
}

function compare(a: string, b: string): number {
	return a < b ? -1 : Number(a > b);
}
