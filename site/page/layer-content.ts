import { type Lang, layerPath, otherLang } from "../../registry/smallkey.ts";
import { type Entry, layerAddress } from "../data/entries.ts";
import { causeIn, mondayOf } from "../data/health.ts";
import { snippetsOf } from "../data/snippets.ts";
import { addressOf, hostsOf, keywordsIn, layersIn, senderOf, stateOf, titleOf } from "../search/select.ts";
import { fragmentPath, repairPulls } from "../static/addresses.ts";
import { type Html, html, type Part } from "../static/html.ts";
import type { SiteSettings } from "../static/page-settings.ts";
import type { Translator } from "../text/page-texts.ts";

export interface LayerContext {
	lang: Lang;
	/** Address of the site's root from the page. */
	root: string;
	/** Ends with a slash; empty if unknown. */
	publicUrl: string;
	texts: Translator;
	site: Pick<SiteSettings, "repository" | "branch" | "canSend" | "targets">;
}

/** The map replaces `.mappanel`. @param withoutScript the content of `.mappanel` */
export function layerArticle(entry: Entry, context: LayerContext, withoutScript: Part = null): Html {
	const { lang, root, texts } = context;
	const { t, typeText, stateText } = texts;
	const { smallkey, type, title, health } = entry;
	const other = otherLang[lang];
	const second = title[other] !== titleOf(entry, lang) && title[other];
	const description = entry.description?.[lang];
	return html`<article class="layer">
<p class="back"><a href="${root}${lang}/"><span aria-hidden="true">← </span>${t("back-to-layers")}</a></p>
<header class="layerhead"><h1 tabindex="-1">${titleOf(entry, lang)}</h1>
${second && html`<p class="second" lang="${other}">${second}</p>`}
<p class="facts"><code>${smallkey}</code> ${typeText(type)}${health && html` <span class="badge">${stateText(health.state)}</span>`}</p>
${description && html`<p class="description">${description}</p>`}</header>
<div class="layerbody">
<div class="mappanel">${withoutScript}</div>
<div class="aside">
<section><h2>${t("about-layer")}</h2>
${layerFacts(entry, context)}</section></div>
${snippets(entry, context)}</div>
</article>`;
}

/** The map alone, for frames in pages of other sites. */
export function embedArticle(entry: Entry, { lang, root }: LayerContext, withoutScript: Part = null): Html {
	const page = root + layerAddress(lang, entry.smallkey);
	return html`<article class="layer">
<h1><a href="${page}" target="_blank" rel="noopener">${titleOf(entry, lang)}</a></h1>
<div class="mappanel">${withoutScript}</div>
</article>`;
}

function layerFacts(entry: Entry, context: LayerContext): Html {
	const { lang, root, site } = context;
	const { t, typeText, dayText } = context.texts;
	const { smallkey, bounds, changed, address } = entry;
	const { repository, branch } = site;
	const commit = changed && `commit ${changed.commit.slice(0, 7)}`;
	const history = `${repository}/commits/${branch}/${layerPath(smallkey)}`;
	const host = (host: string) => filterLink(lang, root, { host }, host);
	const sameAddress = address.fr === undefined && html` <span class="note">${t("same-address")}</span>`;
	const fragment = (target: string) =>
		html`<a href="${root}${fragmentPath(target, lang, smallkey)}">${target}</a>`;
	const rows = factRows([
		[t("smallkey"), html`<code>${smallkey}</code>`],
		[t("type"), typeText(entry.type)],
		[t("health"), ...healthOf(entry, context)],
		[t("registered-by"), senderLink(lang, root, entry)],
		[
			t("last-change"),
			changed && dayText(new Date(changed.date)),
			commit && (repository ? outsideLink(`${repository}/commit/${changed.commit}`, commit) : commit),
			changed && repository && outsideLink(history, t("its-history")),
		],
		[t("service-address"), html`${outsideLink(addressOf(entry, lang))}${sameAddress}`],
		[t("service-host"), ...hostsOf(entry).map(host)],
		[t("service-layers"), layersIn(entry, lang).join(", ")],
		[t("extent"), bounds && t("bounds", ...bounds)],
		[t("keywords"), keywordsIn(entry, lang).join(", ")],
		[t("viewers-read"), ...servedTargets(entry, context).map(fragment)],
	]);
	return html`<dl>\n${rows}</dl>`;
}

function filterLink(lang: Lang, root: string, filter: Readonly<Record<string, string>>, text: string): Html {
	return html`<a href="${root}${lang}/?${String(new URLSearchParams(filter))}">${text}</a>`;
}

/** To the sender's layers; empty without a public name. */
export function senderLink(lang: Lang, root: string, entry: Pick<Entry, "sender">): Part {
	const sender = senderOf(entry, lang);
	return sender && filterLink(lang, root, { sender }, sender);
}

/** Rows of a `dl`. Those without a part are left out. */
export function factRows(rows: readonly (readonly [name: string, ...parts: Part[]])[]): Html {
	return html`${rows.map(([name, ...parts]) => {
		const shown = join(parts);
		return shown.length > 0 && html`<dt>${name}</dt><dd>${shown}</dd>\n`;
	})}`;
}

/** Leaves out the parts that render nothing. */
function join(parts: readonly Part[]): Part[] {
	return parts.filter(Boolean).map((part, index) => [index > 0 && ", ", part]);
}

function servedTargets({ unread }: Entry, { lang, site }: LayerContext) {
	return site.targets.filter((target) => !unread?.includes(`${target}/${lang}`));
}

function snippets(entry: Entry, context: LayerContext): Part {
	const { lang, publicUrl, texts, site } = context;
	const targets = servedTargets(entry, context);
	if (targets.length === 0) return html`<p>${texts.t("viewers-cannot-read")}</p>`;
	if (publicUrl === "") return null;
	const boxes = snippetsOf(entry, lang, publicUrl, targets).map(({ name, text }) => {
		const shown = texts.copyText(name);
		return html`<details><summary>${shown}</summary>
<pre role="group" aria-label="${shown}" tabindex="0"><code>${text}</code></pre></details>\n`;
	});
	const note = !site.canSend && html`<p class="hint">${texts.t("lists-needed")}</p>\n`;
	return html`<section class="wide"><h2>${texts.t("copy-as")}</h2>
${boxes}${note}</section>\n`;
}

function healthOf(entry: Entry, { lang, texts, site }: LayerContext): Part[] {
	const { t, stateText, dayText, causes } = texts;
	const { health } = entry;
	const { text: cause, lang: causeLang } = causeIn(lang, causes, health ?? {});
	return [
		stateText(stateOf(entry)),
		health && t("since-week", dayText(new Date(mondayOf(health.since)))),
		cause && (causeLang === lang ? cause : html`<span lang="${causeLang}">${cause}</span>`),
		health?.repair && outsideLink(repairPulls(site), t("repair-proposed")),
	];
}

/** Only the text if the address is neither http nor https. */
export function outsideLink(href: string, words = href): Part {
	return /^https?:/i.test(href) ? html`<a href="${href}" rel="noopener noreferrer">${words}</a>` : words;
}
