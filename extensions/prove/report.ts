import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { causeText } from "../../registry/health.ts";
import { type Lang, otherLang } from "../../registry/smallkey.ts";
import { textsByLang } from "../../registry/texts/filled.ts";
import { layerAddress } from "../../site/data/entries.ts";
import type { LangProof, Proof, Proofs } from "../../site/data/proofs.ts";
import { folderPages } from "../../site/http/folder-pages.ts";
import { Html, html } from "../../site/static/html.ts";
import { translator } from "../../site/text/translate.ts";

/** On this machine, on a free port. @returns the address with a slash at its end */
export async function serveFolder(dist: string): Promise<{ address: string; close: () => void }> {
	const files = folderPages(dist, false);
	const server = createServer(async (request, response) => {
		const path = new URL(request.url ?? "", "http://host").pathname.slice(1);
		const file = path === "" || path.endsWith("/") ? `${path}index.html` : decodeURIComponent(path);
		const route = { file, root: "/" };
		const acceptEncoding = String(request.headers["accept-encoding"] ?? "");
		const { status, headers, body } = await files.answer(route, { ifNoneMatch: null, acceptEncoding });
		response.writeHead(status, headers).end(body);
	});
	await once(server.listen(0, "127.0.0.1"), "listening");
	const { port } = server.address() as AddressInfo;
	return { address: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** `owner`: who can correct the layer; empty if unknown. */
type Row = { smallkey: string; title: Record<Lang, string>; owner: string } & Proof;

export function reportOf(proofs: Proofs, layers: ReadonlyMap<string, Pick<Row, "title" | "owner">>) {
	const rows = [...layers]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.flatMap(([smallkey, layer]): Row[] => {
			const proof = proofs.get(smallkey);
			return proof ? [{ smallkey, ...layer, ...proof }] : [];
		});
	const notDrawn = rows.filter(({ since }) => since !== undefined);
	return {
		layers: layers.size,
		unknown: layers.size - rows.length,
		/** The longest failing first. */
		notDrawn: notDrawn.sort((a, b) => ((a.since ?? "") < (b.since ?? "") ? -1 : 1)),
		drawn: rows.filter(({ since }) => since === undefined),
	};
}

export const proofTexts = textsByLang({
	title: ["Proof that the layers draw", "Preuve que les couches s’affichent"],
	"count-one": ["{0} of {1} layers draw.", "{0} couche sur {1} s’affiche."],
	count: ["{0} of {1} layers draw.", "{0} couches sur {1} s’affichent."],
	"unknown-one": ["{0} was not drawn by any run yet.", "{0} n’a pas encore été dessinée."],
	unknown: ["{0} were not drawn by any run yet.", "{0} n’ont pas encore été dessinées."],
	"not-drawn": ["Layers that do not draw", "Couches qui ne s’affichent pas"],
	drawn: ["Layers that draw", "Couches qui s’affichent"],
	since: ["not drawn since {0}", "pas dessinée depuis le {0}"],
	"last-look": ["last look: {0}", "dernier examen : {0}"],
	last: ["the last picture", "la dernière image"],
	"features-one": ["{0} feature", "{0} entité"],
	features: ["{0} features", "{0} entités"],
	share: ["{0}% of the map coloured", "{0}\u00a0% de la carte en couleur"],
	seconds: ["{0}\u00a0s", "{0}\u00a0s"],
	picture: ["Map of {0}", "Carte de {0}"],
	search: ["Search by title, smallkey or owner", "Chercher par titre, clé ou responsable"],
	owner: ["owner: {0}", "responsable : {0}"],
	"only-en": ["English only: {0}", "Anglais seulement : {0}"],
	"only-fr": ["French only: {0}", "Français seulement : {0}"],
});

const words = { en: translator("en", proofTexts.en), fr: translator("fr", proofTexts.fr) };

const style =
	new Html(`body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1d1d1d;background:#fff}
ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.5rem;list-style:none;padding:0}
li{border:1px solid #bbb;border-radius:4px;overflow:hidden}li img{display:block;width:100%;aspect-ratio:4/3;object-fit:cover;background:#e8eef2}
li div{padding:.5rem .75rem}h3{margin:0;font-size:1rem}p{margin:.25rem 0}.bad{color:#a40000}.old img{opacity:.5}code{font-size:.875rem}input{font:inherit;width:min(100%,30rem)}`);

/** Filters the list, whatever the case and accents. */
const script = new Html(`const plain = (text) => text.normalize("NFD").replace(/\\p{M}/gu, "").toLowerCase();
document.querySelector("input").addEventListener("input", ({ target }) => {
	for (const item of document.querySelectorAll("li")) item.hidden = !plain(item.textContent).includes(plain(target.value));
});`);

/** @param publicUrl without a slash at its end, for links to the layers' pages; empty if unknown */
export function reportHtml(report: ReturnType<typeof reportOf>, lang: Lang, publicUrl: string): string {
	const { layers, unknown, notDrawn, drawn } = report;
	const { t, plural } = words[lang];
	const other = otherLang[lang];
	const list = (rows: readonly Row[]) =>
		html`<ul>\n${rows.map((row) => itemHtml(row, lang, publicUrl))}</ul>\n`;
	return html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${t("title")}</title>
<style>${style}</style>
</head>
<body>
<p><a href="report.${other}.html" lang="${other}" hreflang="${other}">${lang === "en" ? "Français" : "English"}</a></p>
<h1>${t("title")}</h1>
<p><strong>${plural(drawn.length, "count", layers)} ${unknown > 0 && plural(unknown, "unknown")}</strong></p>
<p><label>${t("search")}<br><input type="search"></label></p>
${notDrawn.length > 0 && html`<h2>${t("not-drawn")}</h2>\n${list(notDrawn)}`}<h2>${t("drawn")}</h2>
${list(drawn)}<script>${script}</script>
</body>
</html>
`.text;
}

function itemHtml(row: Row, lang: Lang, publicUrl: string): Html {
	const { smallkey, owner, day, since, picture, langs } = row;
	const { t } = words[lang];
	const title = row.title[lang];
	const page = publicUrl && `${publicUrl}/${layerAddress(lang, smallkey)}`;
	const alt = since ? t("last") : t("picture", title);
	const langProof = langs[lang] ?? langs.en;
	const lines = [
		since ? failures(langs, lang) : langProof && factsText(langProof, lang),
		t("last-look", day),
		owner && t("owner", owner),
	];
	return html`<li class="${since ? "old" : "new"}">${picture && html`<img src="${picture}" alt="${alt}" width="240" height="180" loading="lazy">`}<div>
<h3>${page ? html`<a href="${page}">${title}</a>` : title}</h3><p><code>${smallkey}</code></p>
${since && html`<p class="bad">${t("since", since)}</p>\n`}${lines.map((line) => line && html`<p>${line}</p>\n`)}</div></li>\n`;
}

/** In the report's language, or in the only one that does not draw. */
function failures({ en, fr }: Proof["langs"], lang: Lang): string {
	const { t } = words[lang];
	const [first, second] = [en?.cause, fr?.cause].map((cause) => cause && causeText(lang, cause));
	if (fr && first && !second) return t("only-en", first);
	if (second && !first) return t("only-fr", second);
	return (lang === "fr" ? (second ?? first) : first) ?? "";
}

function factsText({ features, share, ms }: LangProof, lang: Lang): string {
	const { t, plural } = words[lang];
	const percent = share * 100;
	const facts = [
		features !== undefined && plural(features, "features"),
		t("share", percent < 10 ? Math.round(percent * 10) / 10 : Math.round(percent)),
		t("seconds", Math.round(ms / 100) / 10),
	];
	return facts.filter(Boolean).join(", ");
}
