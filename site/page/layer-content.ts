import { causeIn, mondayOf } from "../../registry/health.ts";
import { type Lang, layerPath, otherLang } from "../../registry/smallkey.ts";
import type { Entry } from "../data/entries.ts";
import {
	addressOf,
	hostsOf,
	keywordsIn,
	layersIn,
	senderOf,
	slugOf,
	stateOf,
	titleOf,
} from "../search/select.ts";
import { publisherAddress, repairPulls } from "../static/addresses.ts";
import { type Html, html, type Part, type SiteSettings } from "../static/html.ts";
import type { Translator } from "../text/page-texts.ts";

interface LayerContext {
	lang: Lang;
	root: string;
	texts: Translator;
	site: Pick<SiteSettings, "repository" | "branch" | "canSend">;
}

export function layerHead(entry: Entry, { lang, texts }: LayerContext): Html {
	const { smallkey, type, title, health } = entry;
	const other = otherLang[lang];
	const second = title[other] !== titleOf(entry, lang) && title[other];
	const description = entry.description?.[lang];
	return html`${second && html`<p class="second" lang="${other}">${second}</p>`}
<p class="facts"><code>${smallkey}</code> ${texts.typeText(type)}${health && html` <span class="badge">${texts.stateText(health.state)}</span>`}</p>
${description && html`<p class="description">${description}</p>`}`;
}

export function layerFacts(entry: Entry, context: LayerContext, isInTable: boolean): Html {
	const { lang, root, site } = context;
	const { t, typeText, dayText } = context.texts;
	const { smallkey, bounds, changed, address } = entry;
	const sender = senderOf(entry, lang);
	const publisher = publisherAddress(lang, slugOf(entry) ?? "");
	const { repository, branch } = site;
	const commit = changed && `commit ${changed.commit.slice(0, 7)}`;
	const history = `${repository}/commits/${branch}/${layerPath(smallkey)}`;
	const host = (host: string) =>
		html`<a href="${root}${lang}/?${String(new URLSearchParams({ host }))}">${host}</a>`;
	const sameAddress = address.fr === undefined && html` <span class="note">${t("same-address")}</span>`;
	const rows: [name: string, ...parts: Part[]][] = [
		[t("smallkey"), html`<code>${smallkey}</code>`],
		[t("type"), typeText(entry.type)],
		[t("health"), ...healthOf(entry, context)],
		[t("registered-by"), sender && html`<a href="${root}${publisher}">${sender}</a>`],
		[
			t("last-change"),
			changed && dayText(new Date(changed.date)),
			commit && (repository ? link(`${repository}/commit/${changed.commit}`, commit) : commit),
			changed && repository && link(history, t("its-history")),
		],
		[t("service-address"), !isInTable && html`${link(addressOf(entry, lang))}${sameAddress}`],
		[t("service-host"), ...hostsOf(entry).map(host)],
		[t("service-layers"), !isInTable && layersIn(entry, lang).join(", ")],
		[t("extent"), bounds && t("bounds", ...bounds)],
		[t("keywords"), keywordsIn(entry, lang).join(", ")],
	];
	return html`<dl>
${rows.map(([name, ...parts]) => {
	const shown = parts.filter(Boolean).map((part, index) => [index > 0 && ", ", part]);
	return shown.length > 0 && html`<dt>${name}</dt><dd>${shown}</dd>\n`;
})}</dl>`;
}

function healthOf(entry: Entry, { lang, texts, site }: LayerContext): Part[] {
	const { t, stateText, dayText, causes } = texts;
	const { health } = entry;
	const { text: cause, lang: causeLang } = causeIn(lang, causes, health ?? {});
	return [
		stateText(stateOf(entry)),
		health && t("since-week", dayText(new Date(mondayOf(health.since)))),
		cause && (causeLang === lang ? cause : html`<span lang="${causeLang}">${cause}</span>`),
		health?.repair && link(repairPulls(site), t("repair-proposed")),
	];
}

/** Only the text if the address is neither http nor https. */
function link(href: string, words = href): Part {
	return /^https?:/i.test(href) ? html`<a href="${href}" rel="noopener noreferrer">${words}</a>` : words;
}
