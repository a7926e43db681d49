import { type Lang, otherLang } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted-text.ts";
import type { FieldChange, RecentChange } from "../data/entries.ts";
import { hostsOf, senderOf, slugOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { feedPath, pageFolder, publisherAddress } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { Html, html, type Part, root } from "./html.ts";
import { layerHref } from "./layer-page.ts";
import { type ListData, layerOf } from "./publishers.ts";

export function changesHtml(lang: Lang, data: ListData): string {
	const { changes, settings } = data;
	const { t } = textsIn[lang];
	return frameHtml(settings, {
		lang,
		root,
		title: t("changes"),
		here: "changes",
		head: html`<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">\n`,
		className: "tables",
		other: root + pageFolder(otherLang[lang], "changes"),
		content: html`<h1>${t("changes")}</h1>
<p class="links"><a href="${root}${feedPath}">${t("feed")}</a> <a href="${root}${pageFolder(lang, "publisher")}">${t("all-publishers")}</a></p>
${changes.length === 0 ? html`<p>${t("no-changes")}</p>` : html`${narrowForm(lang)}\n${changeList(lang, changes, data)}`}`,
	});
}

/** A script fills it with the publishers and hosts of the listed changes, and shows it. */
function narrowForm(lang: Lang): Html {
	const { t } = textsIn[lang];
	const choice = (name: string, label: string) =>
		html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">${t("any")}</option></select></div>\n`;
	return html`<form class="narrow grid" hidden>${choice("publisher", t("publisher"))}${choice("host", t("service-host"))}
<p class="count" role="status" data-singular="${t("change-count-one", "{0}")}" data-plural="${t("change-count", "{0}")}"></p></form>`;
}

/** @param isOnePublisher whether all are of one publisher, whose name is left out, and below a heading */
export function changeList(
	lang: Lang,
	changes: readonly RecentChange[],
	data: ListData,
	isOnePublisher = false,
): Html {
	const days = groupBy(changes, ({ date }) => date.slice(0, 10));
	const heading = new Html(isOnePublisher ? "h3" : "h2");
	return html`${[...days].map(
		([
			day,
			dayChanges,
		]) => html`<section class="day"><${heading}>${textsIn[lang].dayText(new Date(day))}</${heading}>
<ul class="changes">
${dayChanges.map((change) => item(lang, change, data, isOnePublisher))}</ul></section>
`,
	)}`;
}

function item(lang: Lang, change: RecentChange, data: ListData, isOnePublisher: boolean): Html {
	const { commit, date, what } = change;
	const { t, plural } = textsIn[lang];
	const { entryOf, settings } = data;
	const { repository } = settings.site;
	const short = html`<code>${commit.slice(0, 7)}</code>`;
	const source = repository ? html`<a href="${repository}/commit/${commit}">${short}</a>` : short;
	const facts = html`<time datetime="${date}">${date.slice(11, 16)} UTC</time> ${source}`;
	if ("many" in what)
		return html`<li data-row><p class="what"><strong>${plural(what.many, "layer-count")}</strong> <span class="kind">${t("kind-changed")}</span></p>
<p class="facts">${facts}</p></li>\n`;
	const { smallkey, kind } = what;
	const layer = layerOf(change, data);
	const title = layer ? titleOf({ smallkey, title: layer.title }, lang) : smallkey;
	const publisher = layer && senderOf(layer, lang);
	const slug = !isOnePublisher && layer && slugOf(layer);
	const hosts = layer ? hostsOf(layer) : [];
	const name = entryOf(smallkey)
		? html`<a href="${layerHref(lang, smallkey, settings)}">${title}</a>`
		: title;
	const by = slug && html`<a href="${root}${publisherAddress(lang, slug)}">${publisher}</a> `;
	return html`<li data-row data-publisher="${publisher}" data-host="${hosts.join("\n")}"><p class="what"><strong>${name}</strong> <span class="kind">${t(`kind-${kind}`)}</span></p>
<p class="facts"><code>${smallkey}</code> ${by}${hosts.map((host) => html`<span>${host}</span> `)}${facts}</p>
${kind === "changed" && fieldList(lang, what.fields)}</li>\n`;
}

function fieldList(lang: Lang, fields: readonly FieldChange[] = []): Part {
	const { t } = textsIn[lang];
	if (fields.length === 0) return null;
	const isFirst = fields.some(({ field, isRead }) => isRead && field === "");
	const members = fields.filter(({ field }) => field !== "");
	const rows = members.map(({ field, isRead, from, to }) => {
		const before = from === undefined ? t("nothing") : html`<del>${from}</del>`;
		const after = to === undefined ? t("nothing") : html`<ins>${to}</ins>`;
		const hasValues = from !== undefined || to !== undefined;
		const values = hasValues ? html`${before} → ${after}` : t("differs");
		const read = isRead && html` <span class="hint">${t("read-from-service")}</span>`;
		return html`<dt><code>${field}</code>${read}</dt><dd>${values}</dd>\n`;
	});
	return html`${isFirst && html`<p class="hint">${t("first-described")}</p>`}
${rows.length > 0 && html`<dl class="fields">\n${rows}</dl>`}`;
}
