import { type Lang, otherLang } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted-text.ts";
import type { RecentChange } from "../data/entries.ts";
import { hostsOf, senderOf, slugOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { feedPath, pageFolder, publisherAddress } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { Html, html, root } from "./html.ts";
import { layerHref } from "./layer-page.ts";
import type { ListData } from "./publishers.ts";

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
${changes.length === 0 ? html`<p>${t("no-changes")}</p>` : changeList(lang, changes, data)}`,
	});
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
		return html`<li><p class="what"><strong>${plural(what.many, "layer-count")}</strong> <span class="kind">${t("kind-changed")}</span></p>
<p class="facts">${facts}</p></li>\n`;
	const { smallkey, kind } = what;
	const layer = entryOf(smallkey);
	const title = layer ? titleOf(layer, lang) : smallkey;
	const slug = !isOnePublisher && layer && slugOf(layer);
	const hosts = layer ? hostsOf(layer) : [];
	const name = layer ? html`<a href="${layerHref(lang, smallkey, settings)}">${title}</a>` : title;
	const by = slug && html`<a href="${root}${publisherAddress(lang, slug)}">${senderOf(layer, lang)}</a> `;
	return html`<li><p class="what"><strong>${name}</strong> <span class="kind">${t(`kind-${kind}`)}</span></p>
<p class="facts"><code>${smallkey}</code> ${by}${hosts.map((host) => html`<span>${host}</span> `)}${facts}</p></li>\n`;
}
