import { type Lang, langs, otherLang } from "../../registry/smallkey.ts";
import { groupBy } from "../../registry/untrusted.ts";
import type { ChangeKind, Entry, RecentChange } from "../data/entries.ts";
import { healthOf, joined } from "../page/layer-content.ts";
import { hostsOf, senderOf, slugOf, titleOf } from "../search/select.ts";
import { textsIn } from "../text/static.ts";
import { feedPath, publisherAddress } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { Html, html, type Part } from "./html.ts";
import { contextOf, layerHref } from "./layer-page.ts";
import { root } from "./page-settings.ts";
import { byTitle, type ListData, listHtml } from "./plain-list.ts";

/** @param path below the folder of its language */
function pageHtml(
	lang: Lang,
	path: string,
	{ settings }: ListData,
	title: string,
	text: Html,
	head: Part = null,
) {
	const other = `${root}${otherLang[lang]}/${path}`;
	const content = html`<h1>${title}</h1>\n${text}`;
	return frameHtml(settings, { lang, root, other, title, head, content, className: "tables" });
}

function changesHtml(lang: Lang, data: ListData): string {
	const { t } = textsIn[lang];
	const head = html`<link rel="alternate" type="application/atom+xml" href="${root}${feedPath}">\n`;
	const text = html`<p class="links"><a href="${root}${feedPath}">${t("feed")}</a> ${allPublishers(lang)}</p>
${changeList(lang, data.changes, data)}`;
	return pageHtml(lang, "changes/", data, t("changes"), text, head);
}

function allPublishers(lang: Lang): Html {
	return html`<a href="${root}${lang}/publisher/">${textsIn[lang].t("publishers")}</a>`;
}

/** @param publisher the slug whose page it is: its name is left out */
function changeList(lang: Lang, changes: readonly RecentChange[], data: ListData, publisher = ""): Html {
	const { t, dayText } = textsIn[lang];
	if (changes.length === 0) return html`<p>${t("no-changes")}</p>`;
	const heading = new Html(publisher === "" ? "h2" : "h3");
	const days = [...groupBy(changes, ({ date }) => date.slice(0, 10))].map(([day, dayChanges]) => {
		const items = dayChanges.map((change) => changeHtml(lang, change, data, publisher));
		return html`<section class="day"><${heading}>${dayText(new Date(day))}</${heading}>
<ul class="changes">
${items}</ul></section>
`;
	});
	return html`${days}`;
}

function changeHtml(lang: Lang, change: RecentChange, data: ListData, publisher: string): Html {
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
	const slug = slugOf(layer);
	const name = html`<a href="${layerHref(lang, smallkey, settings)}">${titleOf(layer, lang)}</a>`;
	const sender =
		slug &&
		slug !== publisher &&
		html`<a href="${root}${publisherAddress(lang, slug)}">${senderOf(layer, lang)}</a> `;
	const hosts = hostsOf(layer).map((host) => html`<span>${host}</span> `);
	return item(name, kind, html`<code>${smallkey}</code> ${sender}${hosts}`);
}

/** `index/index.json` names the files that have all layers. */
const maxRows = 2_000;
const maxChanges = 50;

function publisherHtml(lang: Lang, slug: string, layers: readonly Entry[], data: ListData): string {
	const { settings } = data;
	const { t, typeText } = textsIn[lang];
	const columns: [name: string, cell: (entry: Entry) => Part][] = [
		[t("smallkey"), ({ smallkey }) => html`<code>${smallkey}</code>`],
		[t("type"), ({ type }) => typeText(type)],
		[t("health"), (entry) => joined(healthOf(entry, contextOf(lang, settings)))],
		[
			t("last-change"),
			({ changed }) => changed && html`<time datetime="${changed.date}">${changed.date.slice(0, 10)}</time>`,
		],
	];
	const sickFirst = byTitle(layers, lang).sort((a, b) => Number(isSick(b)) - Number(isSick(a)));
	const rows = sickFirst.slice(0, maxRows).map((entry) => {
		const href = layerHref(lang, entry.smallkey, settings);
		const cells = columns.map(
			([name, cell]) => html`<td data-label="${name}${t("colon")}">${cell(entry) || "–"}</td>`,
		);
		return html`<tr><th scope="row"><a href="${href}">${titleOf(entry, lang)}</a></th>${cells}</tr>\n`;
	});
	const heads = [t("layer"), ...columns.map(([name]) => name)];
	const recent = data.changes.filter(
		({ what }) => "smallkey" in what && slugOf(data.entryOf(what.smallkey) ?? {}) === slug,
	);
	const text = html`<p>${countText(lang, layers)}.</p>
<p class="links">${allPublishers(lang)}</p>
<h2>${t("layers")}</h2>
${layers.length > maxRows && html`<p>${t("first-rows", maxRows)}</p>`}
<table class="sick"><thead><tr>${heads.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table>
<h2>${t("changes")}</h2>
${changeList(lang, recent.slice(0, maxChanges), data, slug)}`;
	return pageHtml(lang, `publisher/${slug}`, data, namesOf(layers, lang), text);
}

function isSick({ health }: Entry): boolean {
	return Boolean(health);
}

function namesOf(layers: readonly Entry[], lang: Lang): string {
	return [...new Set(layers.map((entry) => senderOf(entry, lang)))].join(" · ");
}

function countText(lang: Lang, layers: readonly Entry[]): string {
	const { t, plural } = textsIn[lang];
	const sick = layers.filter(isSick).length;
	return plural(layers.length, "layer-count") + (sick > 0 ? `, ${t("with-problem", sick)}` : "");
}

function publishersHtml(lang: Lang, data: ListData): string {
	const { t } = textsIn[lang];
	const all = [...data.publishers].map(([slug, layers]) => ({ slug, layers, name: namesOf(layers, lang) }));
	const sorted = all.sort((a, b) => b.layers.length - a.layers.length || (a.name < b.name ? -1 : 1));
	const rows = sorted.map(({ slug, layers, name }) => {
		const address = publisherAddress(lang, slug);
		return html`<li><a href="${root}${address}">${name}</a> <span>${countText(lang, layers)}</span></li>\n`;
	});
	const text =
		rows.length === 0 ? html`<p>${t("no-publishers")}</p>` : html`<ul class="plain">\n${rows}</ul>`;
	return pageHtml(lang, "publisher/", data, t("publishers"), text);
}

/** Groups: language and publisher, or `fr/` and page of the plain list. */
const listPage =
	/^(?:(en|fr)\/(?:changes\/index|publisher\/([a-z0-9-]+))|list\/(fr\/)?(index|[2-9]|[1-9]\d{1,5}))\.html$/;

export function isListPage(file: string): boolean {
	return listPage.test(file);
}

/** Null if there is no such publisher or page. Pure. */
export function renderListPage(file: string, data: ListData): string | null {
	const [, pageLang, slug, french, number = ""] = listPage.exec(file) ?? [];
	const lang = (pageLang ?? (french ? "fr" : "en")) as Lang;
	if (number)
		return listHtml(lang, data.pagesIn(lang), number === "index" ? 1 : Number(number), data.settings);
	if (slug === undefined) return changesHtml(lang, data);
	if (slug === "index") return publishersHtml(lang, data);
	const layers = data.publishers.get(slug);
	return layers ? publisherHtml(lang, slug, layers, data) : null;
}

/** Leaves out the plain list. */
export function listPagePaths(slugs: Iterable<string>): string[] {
	const names = ["changes/index", "publisher/index", ...Array.from(slugs, (slug) => `publisher/${slug}`)];
	return names.flatMap((name) => langs.map((lang) => `${lang}/${name}.html`));
}
