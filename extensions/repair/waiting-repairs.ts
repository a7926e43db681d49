import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { readAt, servedRef } from "../../api/service/repository.ts";
import { parseDescription } from "../../registry/description.ts";
import { parseRegistration } from "../../registry/registration.ts";
import type { WaitingRepair } from "../../registry/schemas/answers.ts";
import { descriptionPath, type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import type { Entry } from "../../site/data/entries.ts";
import { readPicturePairs } from "../../site/data/proofs.ts";
import { titleOf } from "../../site/search/select.ts";
import { repairAddress } from "../../site/static/addresses.ts";
import { frameHtml } from "../../site/static/frame.ts";
import { type Html, html, type PageSettings, root } from "../../site/static/html.ts";
import { layerHref } from "../../site/static/layer-page.ts";
import { textsIn } from "../../site/text/static.ts";
import { type OpenRepair, readOpen } from "../../store/git/review-branches.ts";
import { agreementOf } from "../harvest/agreement.ts";
import { placeOf } from "../harvest/finding.ts";
import { repairTexts } from "./proposal.ts";

export type ReadRepairs = ReturnType<typeof createReadRepairs>;

const maxCached = 200;

async function readLayer(repository: string, commit: string, smallkey: string) {
	const layer = await readAt(repository, commit, layerPath(smallkey));
	const description = await readAt(repository, commit, descriptionPath(smallkey));
	const { registration = null } = layer ? parseRegistration(layer, "stored") : {};
	return { registration, description: description && parseDescription(description.toString("utf8")) };
}

async function evidenceOf(repository: string, open: OpenRepair, smallkey: string): Promise<WaitingRepair> {
	const { branch, commit, sure, choices } = open;
	const before = await readLayer(repository, `${commit}^`, smallkey);
	const after = await readLayer(repository, commit, smallkey);
	const repair: WaitingRepair = { branch, commit, sure, from: {}, to: {}, choices, rows: [] };
	const { registration, description } = before;
	if (!registration || !after.registration) return repair;
	for (const lang of langs) {
		const [from, to] = [placeOf(registration, lang), placeOf(after.registration, lang)];
		if (sure === "choose") repair.from[lang] = from;
		if (from === to) continue;
		// Both languages of one place have one evidence.
		const isShared = repair.rows.length > 0 && repair.from.en === from && repair.to.en === to;
		repair.from[lang] = from;
		repair.to[lang] = to;
		const [earlier, later] = [description?.[lang], after.description?.[lang]];
		if (!earlier || !later) continue;
		for (const row of isShared ? repair.rows : []) row.langs.push(lang);
		for (const { trait, ...row } of isShared ? [] : agreementOf(earlier, later).rows) {
			const text = { en: repairTexts.en[trait], fr: repairTexts.fr[trait] };
			repair.rows.push({ langs: [lang], code: trait, text, ...row });
		}
	}
	return repair;
}

/** A data URI; null if no picture was drawn since the repair was proposed. */
async function pictureOf(pictures: string, smallkey: string, { timeMs }: OpenRepair): Promise<string | null> {
	const { after } = (await readPicturePairs(pictures))(smallkey);
	const file = join(pictures, after ?? "");
	const drawn = after && (await stat(file).catch(() => null));
	if (!drawn || drawn.mtimeMs < timeMs) return null;
	return `data:image/webp;base64,${(await readFile(file)).toString("base64")}`;
}

/**
 * Requests during a list of git share the next list.
 * @param pictures the folder of pictures of layers; null: none is read
 */
export function createReadRepairs(repository: string, pictures: string | null) {
	const oneByOne = pLimit(1);
	let next: Promise<OpenRepair[]> | null = null;
	const cached = new LRUCache<string, Promise<WaitingRepair>>({ max: maxCached });

	function list(): Promise<OpenRepair[]> {
		next ??= oneByOne(() => {
			next = null;
			return readOpen(repository, servedRef);
		});
		return next;
	}

	return {
		list,
		/** `smallkeys`: all layers of its proposal. */
		async of(smallkey: string) {
			const open = (await list()).find(({ smallkeys }) => smallkeys.includes(smallkey));
			if (!open) return null;
			const name = `${open.commit} ${smallkey}`;
			const evidence = cached.get(name) ?? oneByOne(() => evidenceOf(repository, open, smallkey));
			cached.set(name, evidence);
			evidence.catch(() => cached.delete(name));
			return {
				repair: await evidence,
				smallkeys: open.smallkeys,
				picture: pictures === null ? null : await pictureOf(pictures, smallkey, open),
			};
		},
	};
}

const maxListed = 200;

export function repairHtml(
	lang: Lang,
	smallkey: string,
	entry: Entry | null,
	{ repair, smallkeys, picture }: NonNullable<Awaited<ReturnType<ReadRepairs["of"]>>>,
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
<h2>${t("moved-together")} (${plural(smallkeys.length, "layer-count")})</h2>
${layerList(lang, smallkeys)}`
}
<p><a href="${layerHref(lang, smallkey, settings)}">${t("layer-page")}</a> · <a href="${root}${repairAddress(lang)}">${t("repairs")}</a></p>`,
	);
}

export function repairsHtml(lang: Lang, open: readonly OpenRepair[], settings: PageSettings): string {
	const { t, plural } = textsIn[lang];
	const sections = open.map(
		({ branch, sure, smallkeys }) => html`<section>
<h2>${t(`repair-${sure}`)} (${plural(smallkeys.length, "layer-count")})</h2>
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
		lang,
		root,
		title,
		other: root + other,
		head: html`<meta name="robots" content="noindex">`,
		className: "guide layer",
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
	const isSame = rows.every(({ langs: [first] }) => first === rows[0]?.langs[0]);
	const head = ["compared", "before", "now", "agrees"] as const;
	const lines = rows.map((row) => {
		const suffix = isSame ? "" : ` (${row.langs.join(", ")})`;
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
	const accept = `accept ${branch} --commit ${commit.slice(0, 12)}`;
	const words = [`show ${branch}`, ...(sure === "choose" ? [] : [accept]), `decline ${branch} --why "…"`];
	return words.map((word) => `npx fragment-publisher review ${word}`).join("\n");
}

function layerList(lang: Lang, smallkeys: readonly string[]): Html {
	const more = smallkeys.length > maxListed && html`<li>…</li>\n`;
	return html`<ul class="plain">
${smallkeys.slice(0, maxListed).map((key) => html`<li><a href="${root}${repairAddress(lang, key)}"><code>${key}</code></a></li>\n`)}${more}</ul>`;
}
