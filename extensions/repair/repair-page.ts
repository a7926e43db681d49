import type { WaitingRepair } from "../../registry/schemas/answers.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { type Entry, layerAddress } from "../../site/data/entries.ts";
import { titleOf } from "../../site/search/select.ts";
import { repairAddress } from "../../site/static/addresses.ts";
import { frameHtml } from "../../site/static/frame.ts";
import { type Html, html, type PageSettings, textsIn } from "../../site/static/html.ts";

export interface RepairOfLayer {
	repair: WaitingRepair;
	/** All layers of its proposal. */
	smallkeys: readonly string[];
	/** After the repair, as a data URI. */
	picture: string | null;
}

export interface OpenRepair extends Pick<WaitingRepair, "branch" | "sure"> {
	smallkeys: readonly string[];
}

const maxListed = 200;

const root = "../../";

/** Pure. @param entry null if the catalogue does not have the layer yet */
export function repairHtml(
	lang: Lang,
	smallkey: string,
	entry: Entry | null,
	{ repair, smallkeys, picture }: RepairOfLayer,
	settings: PageSettings,
): string {
	const { t, plural } = textsIn[lang];
	const title = entry ? titleOf(entry, lang) : smallkey;
	const before = entry?.thumbnail && root + entry.thumbnail;
	return page(
		lang,
		t("repair-of", title),
		repairAddress(lang === "en" ? "fr" : "en", smallkey),
		settings,
		html`
<p><strong>${t(`repair-${repair.sure}`)}</strong></p>
<h2>${t("places")}</h2>
<dl>
${placesOf(lang, repair)}</dl>
${repair.rows.length > 0 && evidence(lang, repair)}
<h2>${t("pictures")}</h2>
<div class="pair">
${figure(t("picture-before"), before, t("no-picture"))}
${figure(t("picture-after"), picture, t("no-picture"))}
</div>
<h2>${t("how-to-decide")}</h2>
<p>${t("on-machine")}</p>
<pre tabindex="0"><code>${commands(repair)}</code></pre>
${
	smallkeys.length > 1 &&
	html`<p>${t("only-hint")}</p>
<h2>${t("moved-together")} (${plural(smallkeys.length, "repaired-layers")})</h2>
${layerList(lang, smallkeys)}`
}
<p><a href="${root}${settings.site.hasLayerPages ? layerAddress(lang, smallkey) : `${lang}/?layer=${encodeURIComponent(smallkey)}`}">${t("layer-page")}</a> · <a href="${root}${repairAddress(lang)}">${t("repairs")}</a></p>`,
	);
}

export function repairsHtml(lang: Lang, open: readonly OpenRepair[], settings: PageSettings): string {
	const { t, plural } = textsIn[lang];
	const sections = open.map(
		({ branch, sure, smallkeys }) => html`<section>
<h2>${t(`repair-${sure}`)} (${plural(smallkeys.length, "repaired-layers")})</h2>
<p><code>${branch}</code></p>
${layerList(lang, smallkeys)}
</section>
`,
	);
	return page(
		lang,
		t("repairs"),
		repairAddress(lang === "en" ? "fr" : "en"),
		settings,
		html`
<p>${open.length === 0 ? t("no-repairs") : t("repairs-intro")}</p>
${sections}`,
	);
}

function page(lang: Lang, title: string, other: string, settings: PageSettings, content: Html): string {
	return frameHtml(settings, {
		...{ lang, root, title, other: root + other },
		head: html`<meta name="robots" content="noindex">`,
		attributes: html` class="guide layer"`,
		content: html`<h1>${title}</h1>${content}`,
	});
}

/** Once for languages with the same places. */
function placesOf(lang: Lang, { from, to, choices }: WaitingRepair): Html[] {
	const { t } = textsIn[lang];
	const isSame = from.en === from.fr && to.en === to.fr;
	const shown = langs.filter((placeLang) => from[placeLang] !== undefined && (placeLang === "en" || !isSame));
	const item = (name: string, place: string) => html`<dt>${name}</dt><dd class="place">${place}</dd>\n`;
	const places = shown.flatMap((placeLang) => {
		const name = isSame ? t("both-languages") : t(`lang-${placeLang}`);
		const [before = "", after] = [from[placeLang], to[placeLang]];
		return [
			item(t("place-registered", name), before),
			after ? item(t("place-proposed", name), after) : html``,
		];
	});
	return [...places, ...choices.map((place, at) => item(`${at + 1}`, place))];
}

function evidence(lang: Lang, { rows }: WaitingRepair): Html {
	const { t } = textsIn[lang];
	const isShared = rows.every((row) => row.langs.length === rows[0]?.langs.length && row.langs.length > 1);
	const head = ["compared", "before", "now", "agrees"] as const;
	const lines = rows.map((row) => {
		const suffix =
			isShared || rows.every(({ langs: [first] }) => first === row.langs[0])
				? ""
				: ` (${row.langs.join(", ")})`;
		const mark = row.agrees ? t("yes") : html`<strong class="bad">${t("no")}</strong>`;
		return html`<tr><th scope="row">${row.text[lang]}${suffix}</th><td>${row.before}</td><td>${row.after}</td><td>${mark}</td></tr>\n`;
	});
	return html`<h2>${t("evidence")}</h2>
<div class="wide" tabindex="0" role="group" aria-label="${t("evidence")}"><table class="evidence">
<thead><tr>${head.map((code) => html`<th scope="col">${t(code)}</th>`)}</tr></thead>
<tbody>
${lines}</tbody>
</table></div>`;
}

function figure(caption: string, source: string | null | undefined, none: string): Html {
	const picture = source
		? html`<img src="${source}" alt="" width="240" height="180">`
		: html`<p class="hint">${none}</p>`;
	return html`<figure>${picture}<figcaption>${caption}</figcaption></figure>`;
}

function commands({ branch, commit, sure }: WaitingRepair): string {
	const accept = `npx fragment-publisher review accept ${branch} --commit ${commit.slice(0, 12)}`;
	const decline = `npx fragment-publisher review decline ${branch} --why "…"`;
	return [
		`npx fragment-publisher review show ${branch}`,
		...(sure === "choose" ? [] : [accept]),
		decline,
	].join("\n");
}

function layerList(lang: Lang, smallkeys: readonly string[]): Html {
	const more = smallkeys.length > maxListed && html`<li>…</li>\n`;
	return html`<ul class="plain">
${smallkeys.slice(0, maxListed).map((key) => html`<li><a href="${root}${repairAddress(lang, key)}"><code>${key}</code></a></li>\n`)}${more}</ul>`;
}
