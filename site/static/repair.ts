import { type Entry, layerAddress } from "../../registry/entries.ts";
import type { WaitingRepair } from "../../registry/schemas/answers.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { titleOf } from "../search/entry.ts";
import { repairAddress } from "./addresses.ts";
import { frameHtml } from "./frame.ts";
import { type Html, html, type PageSettings } from "./html.ts";

/** A layer's waiting repair, for its page. */
export interface RepairOfLayer {
	repair: WaitingRepair;
	/** The layers of its proposal, this one too. */
	smallkeys: readonly string[];
	/** A picture of the layer after the repair, as a data URI; null if there is none. */
	picture: string | null;
}

/** A waiting proposal, for the list. */
export interface OpenRepair extends Pick<WaitingRepair, "branch" | "sure"> {
	smallkeys: readonly string[];
}

/** Only the service renders these pages: their texts stay out of `site/text/`, which every browser loads. */
const texts = {
	en: {
		all: "Proposed repairs",
		none: "No repair waits for a decision.",
		intro:
			"Map services are renamed and moved. Where the service of a layer may be now is proposed here. Nothing changes without a decision.",
		title: (title: string) => `Repair of ${title}`,
		sure: {
			same: "The same layer at another place",
			perhaps: "Perhaps the same layer at another place",
			choose: "Several places agree alike: register the one that is right",
		},
		both: "Both languages",
		lang: { en: "English", fr: "French" },
		from: "registered",
		to: "proposed",
		places: "Places",
		evidence: "Evidence",
		head: ["Compared", "Before", "Now", "Agrees"],
		yes: "yes",
		no: "no",
		pictures: "Pictures",
		before: "As it was last drawn",
		after: "After the repair",
		noPicture: "No picture yet",
		others: (number: number) => (number === 1 ? "One layer" : `${number} layers`),
		together: "Moved together",
		decide: "How to decide",
		shell: "On the machine of the service:",
		only: "With --only SMALLKEY, a decision is about that layer alone.",
		layer: "The layer’s page",
	},
	fr: {
		all: "Réparations proposées",
		none: "Aucune réparation n’attend de décision.",
		intro:
			"Les services cartographiques changent de nom et d’adresse. L’endroit où se trouve peut-être le service d’une couche est proposé ici. Rien ne change sans décision.",
		title: (title: string) => `Réparation de ${title}`,
		sure: {
			same: "La même couche à un autre endroit",
			perhaps: "Peut-être la même couche à un autre endroit",
			choose: "Plusieurs endroits concordent également\u00a0: inscrivez celui qui est juste",
		},
		both: "Les deux langues",
		lang: { en: "Anglais", fr: "Français" },
		from: "inscrit",
		to: "proposé",
		places: "Endroits",
		evidence: "Indices",
		head: ["Comparaison", "Avant", "Maintenant", "Concorde"],
		yes: "oui",
		no: "non",
		pictures: "Images",
		before: "Telle que dessinée la dernière fois",
		after: "Après la réparation",
		noPicture: "Pas encore d’image",
		others: (number: number) => (number === 1 ? "Une couche" : `${number} couches`),
		together: "Déménagées ensemble",
		decide: "Pour décider",
		shell: "Sur la machine du service\u00a0:",
		only: "Avec --only CLÉ, la décision ne porte que sur cette couche.",
		layer: "La page de la couche",
	},
};

/** Most layers of a proposal that a page lists. */
const maxListed = 200;

/** Relative address from a page of repairs to the site's root. */
const root = "../../";

/** Renders the page of a layer's waiting repair. Pure. @param entry null if the catalogue does not have the layer yet */
export function repairHtml(
	lang: Lang,
	smallkey: string,
	entry: Entry | null,
	{ repair, smallkeys, picture }: RepairOfLayer,
	settings: PageSettings,
): string {
	const words = texts[lang];
	const title = entry ? titleOf(entry, lang) : smallkey;
	const before = entry?.thumbnail && root + entry.thumbnail;
	return page(
		lang,
		words.title(title),
		repairAddress(lang === "en" ? "fr" : "en", smallkey),
		settings,
		html`
<p><strong>${words.sure[repair.sure]}</strong></p>
<h2>${words.places}</h2>
<dl>
${placesOf(lang, repair)}</dl>
${repair.rows.length > 0 && evidence(lang, repair)}
<h2>${words.pictures}</h2>
<div class="pair">
${figure(words.before, before, words.noPicture)}
${figure(words.after, picture, words.noPicture)}
</div>
<h2>${words.decide}</h2>
<p>${words.shell}</p>
<pre tabindex="0"><code>${commands(repair)}</code></pre>
${
	smallkeys.length > 1 &&
	html`<p>${words.only}</p>
<h2>${words.together} (${words.others(smallkeys.length)})</h2>
${layerList(lang, smallkeys)}`
}
<p><a href="${root}${settings.site.hasLayerPages ? layerAddress(lang, smallkey) : `${lang}/?layer=${encodeURIComponent(smallkey)}`}">${words.layer}</a> · <a href="${root}${repairAddress(lang)}">${words.all}</a></p>`,
	);
}

/** Renders the page of all waiting repairs. Pure. */
export function repairsHtml(lang: Lang, open: readonly OpenRepair[], settings: PageSettings): string {
	const words = texts[lang];
	const sections = open.map(
		({ branch, sure, smallkeys }) => html`<section>
<h2>${words.sure[sure]} (${words.others(smallkeys.length)})</h2>
<p><code>${branch}</code></p>
${layerList(lang, smallkeys)}
</section>
`,
	);
	return page(
		lang,
		words.all,
		repairAddress(lang === "en" ? "fr" : "en"),
		settings,
		html`
<p>${open.length === 0 ? words.none : words.intro}</p>
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

/** Where the layer is registered, and where it would be: once for languages with the same places. */
function placesOf(lang: Lang, { from, to, choices }: WaitingRepair): Html[] {
	const words = texts[lang];
	const isSame = from.en === from.fr && to.en === to.fr;
	const shown = langs.filter((one) => from[one] !== undefined && (one === "en" || !isSame));
	const item = (name: string, place: string) => html`<dt>${name}</dt><dd class="place">${place}</dd>\n`;
	const places = shown.flatMap((one) => {
		const name = isSame ? words.both : words.lang[one];
		const [before = "", after] = [from[one], to[one]];
		return [item(`${name}, ${words.from}`, before), after ? item(`${name}, ${words.to}`, after) : html``];
	});
	return [...places, ...choices.map((place, at) => item(`${at + 1}`, place))];
}

function evidence(lang: Lang, { rows }: WaitingRepair): Html {
	const words = texts[lang];
	const isShared = rows.every((row) => row.langs.length === rows[0]?.langs.length && row.langs.length > 1);
	const [what, before, now, agrees] = words.head;
	const lines = rows.map((row) => {
		const own =
			isShared || rows.every(({ langs: [one] }) => one === row.langs[0]) ? "" : ` (${row.langs.join(", ")})`;
		const mark = row.agrees ? words.yes : html`<strong class="bad">${words.no}</strong>`;
		return html`<tr><th scope="row">${row.text[lang]}${own}</th><td>${row.before}</td><td>${row.after}</td><td>${mark}</td></tr>\n`;
	});
	return html`<h2>${words.evidence}</h2>
<div class="wide" tabindex="0" role="group" aria-label="${words.evidence}"><table class="evidence">
<thead><tr><th scope="col">${what}</th><th scope="col">${before}</th><th scope="col">${now}</th><th scope="col">${agrees}</th></tr></thead>
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
