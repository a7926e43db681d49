import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted.ts";
import type { ChangeKind, RecentChange } from "../data/entries.ts";
import { senderLink } from "../page/layer-content.ts";
import { hostsOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { feedPath } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type Part } from "./html.ts";
import { layerHref } from "./layer-page.ts";
import { root } from "./page-settings.ts";
import { type ListData, listHtml } from "./plain-list.ts";

function changesHtml(lang: Lang, data: ListData): string {
	const { t } = textsIn[lang];
	const title = t("changes");
	const head = html`<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">\n`;
	const content = html`<h1>${title}</h1>
<p class="links"><a href="${root}${feedPath}">${t("feed")}</a></p>
${changeList(lang, data)}`;
	const other = `${root}${otherLang[lang]}/changes/`;
	return frameHtml(data.settings, { lang, root, other, title, head, content, className: "tables" });
}

function changeList(lang: Lang, data: ListData): Html {
	const { t, dayText } = textsIn[lang];
	if (data.changes.length === 0) return html`<p>${t("no-changes")}</p>`;
	const days = [...groupBy(data.changes, ({ date }) => date.slice(0, 10))].map(([day, changes]) => {
		const items = changes.map((change) => changeHtml(lang, change, data));
		return html`<section class="day"><h2>${dayText(new Date(day))}</h2>
<ul class="changes">
${items}</ul></section>
`;
	});
	return html`${days}`;
}

function changeHtml(lang: Lang, change: RecentChange, data: ListData): Html {
	const { commit, date, what } = change;
	const { t, plural } = textsIn[lang];
	const { entryOf, settings } = data;
	const { repository } = settings.site;
	const short = html`<code>${commit.slice(0, 7)}</code>`;
	const source = repository ? html`<a href="${repository}/commit/${commit}">${short}</a>` : short;
	const item = (
		name: Part,
		kind: ChangeKind,
		facts: Part,
	) => html`<li><p class="what"><strong>${name}</strong> <span class="kind">${t(`kind-${kind}`)}</span></p>
<p class="facts">${facts}<time datetime="${date}">${date.slice(11, 16)} UTC</time> ${source}</p></li>\n`;
	if ("many" in what) return item(plural(what.many, "layer-count"), "changed", null);
	const { smallkey, kind } = what;
	const layer = entryOf(smallkey);
	if (!layer) return item(smallkey, kind, html`<code>${smallkey}</code> `);
	const name = html`<a href="${layerHref(lang, smallkey, settings)}">${titleOf(layer, lang)}</a>`;
	const sender = senderLink(lang, root, layer);
	const hosts = hostsOf(layer).map((host) => html`<span>${host}</span> `);
	return item(name, kind, html`<code>${smallkey}</code> ${sender && [sender, " "]}${hosts}`);
}

/** Groups: language, or `fr/` and page of the plain list. */
const listPage = /^(?:(en|fr)\/changes\/index|list\/(fr\/)?(index|[2-9]|[1-9]\d{1,5}))\.html$/;

export function isListPage(file: string): boolean {
	return listPage.test(file);
}

/** Null if there is no such page. Pure. */
export function renderListPage(file: string, data: ListData): string | null {
	const [, pageLang, french, number] = listPage.exec(file) ?? [];
	const lang = (pageLang ?? (french ? "fr" : "en")) as Lang;
	if (number === undefined) return changesHtml(lang, data);
	return listHtml(lang, data.pagesIn(lang), number === "index" ? 1 : Number(number), data.settings);
}

/** Leaves out the plain list. */
export const listPagePaths = langs.map((lang) => `${lang}/changes/index.html`);
