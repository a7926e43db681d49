import { type Lang, otherLang } from "../../registry/smallkey.ts";
import type { FieldChange, RecentChange } from "../data/entries.ts";
import { hostsOf, senderOf, slugOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { changesFolders, feedPath, publisherAddress, publisherFolders } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type Part, root } from "./html.ts";
import { layerHref } from "./layer-page.ts";
import { type Lists, layerOf } from "./publishers.ts";

/** A page of one publisher has its name and no others, and the changes below a heading. */
type ListOptions = Lists & { isOnePublisher: boolean };

export function changesHtml(lang: Lang, lists: Lists): string {
	const { changes, settings } = lists;
	const { t } = textsIn[lang];
	const isEmpty = changes.length === 0;
	return frameHtml(settings, {
		lang,
		root,
		title: t("changes"),
		here: "changes",
		head: html`<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">\n`,
		hasTables: true,
		other: `${root}${changesFolders[otherLang[lang]]}/`,
		content: html`<h1>${t("changes")}</h1>
<p class="links"><a href="${root}${feedPath}">${t("feed")}</a> <a href="${root}${publisherFolders[lang]}/">${t("all-publishers")}</a></p>
${isEmpty ? html`<p>${t("no-changes")}</p>` : html`${narrowForm(lang, lists)}\n${changeList(lang, changes, { ...lists, isOnePublisher: false })}`}`,
	});
}

/** A script shows it. */
function narrowForm(lang: Lang, lists: Lists): Html {
	const { t } = textsIn[lang];
	const publishers = new Set<string>();
	const hosts = new Set<string>();
	for (const { what } of lists.changes) {
		const layer = "many" in what ? undefined : layerOf(what.smallkey, lists);
		if (!layer) continue;
		publishers.add(senderOf(layer, lang));
		for (const host of hostsOf(layer)) hosts.add(host);
	}
	const choice = (name: string, label: string, values: ReadonlySet<string>) =>
		html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}"><option value="">${t("any")}</option>
${[...values]
	.filter(Boolean)
	.sort()
	.map((value) => html`<option>${value}</option>`)}</select></div>`;
	return html`<form class="narrow grid" hidden>${choice("publisher", t("publisher"), publishers)}
${choice("host", t("service-host"), hosts)}
<p class="count" role="status" data-singular="${t("change-count-one", "{0}")}" data-plural="${t("change-count", "{0}")}"></p></form>`;
}

export function changeList(lang: Lang, changes: readonly RecentChange[], lists: ListOptions): Html {
	const days = new Map<string, RecentChange[]>();
	for (const change of changes) {
		const day = change.date.slice(0, 10);
		days.set(day, [...(days.get(day) ?? []), change]);
	}
	const dayText = (day: string) =>
		new Date(day).toLocaleDateString(`${lang}-CA`, { dateStyle: "long", timeZone: "UTC" });
	const heading = (day: string) =>
		lists.isOnePublisher ? html`<h3>${dayText(day)}</h3>` : html`<h2>${dayText(day)}</h2>`;
	return html`${[...days].map(
		([day, dayChanges]) => html`<section class="day">${heading(day)}
<ul class="changes">
${dayChanges.map((change) => item(lang, change, lists))}</ul></section>
`,
	)}`;
}

function item(lang: Lang, { commit, date, what }: RecentChange, lists: ListOptions): Html {
	const { t, plural } = textsIn[lang];
	const { entryOf, settings, isOnePublisher } = lists;
	const { repository } = settings.site;
	const short = html`<code>${commit.slice(0, 7)}</code>`;
	const source = repository ? html`<a href="${repository}/commit/${commit}">${short}</a>` : short;
	const facts = html`<time datetime="${date}">${date.slice(11, 16)} UTC</time> ${source}`;
	if ("many" in what)
		return html`<li data-row><p class="what"><strong>${plural(what.many, "layer-count")}</strong> <span class="kind">${t("kind-changed")}</span></p>
<p class="facts">${facts}</p></li>\n`;
	const { smallkey, kind } = what;
	const isThere = entryOf(smallkey) !== undefined;
	const layer = layerOf(smallkey, lists);
	const title = layer ? titleOf({ smallkey, title: layer.title }, lang) : smallkey;
	const publisher = layer ? senderOf(layer, lang) : "";
	const slug = layer ? slugOf(layer) : null;
	const hosts = layer ? hostsOf(layer) : [];
	const name = isThere ? html`<a href="${layerHref(lang, smallkey, settings)}">${title}</a>` : title;
	const by =
		!isOnePublisher &&
		publisher &&
		slug &&
		html`<a href="${root}${publisherAddress(lang, slug)}">${publisher}</a> `;
	return html`<li data-row data-publisher="${publisher}" data-host="${hosts.join(" ")}"><p class="what"><strong>${name}</strong> <span class="kind">${t(`kind-${kind}`)}</span></p>
<p class="facts"><code>${smallkey}</code> ${by}${hosts.map((host) => html`<span>${host}</span> `)}${facts}</p>
${kind === "changed" && fieldList(lang, what.fields)}</li>\n`;
}

function fieldList(lang: Lang, fields: readonly FieldChange[] = []): Part {
	const { t } = textsIn[lang];
	if (fields.length === 0) return null;
	const isFirst = fields.some(({ field, isRead }) => isRead && field === "");
	const members = fields.filter(({ field }) => field !== "");
	const rows = members.map(({ field, isRead, from, to }) => {
		const hasValues = from !== undefined || to !== undefined;
		const values =
			hasValues &&
			html`${from !== undefined ? html`<del>${from}</del>` : t("nothing")} <span class="arrow">→</span> ${to !== undefined ? html`<ins>${to}</ins>` : t("nothing")}`;
		const read = isRead && html` <span class="hint">${t("read-from-service")}</span>`;
		return html`<dt><code>${field}</code>${read}</dt><dd>${values || t("differs")}</dd>\n`;
	});
	return html`${isFirst && html`<p class="hint">${t("first-described")}</p>`}
${rows.length > 0 && html`<dl class="fields">\n${rows}</dl>`}`;
}
