import type { Lang } from "../../../registry/smallkey.ts";
import { escapeHtml } from "../../../site/static/html.ts";
import type { LangProof, Proof, Proofs } from "./proofs.ts";

/** A layer of a report. */
type Row = { smallkey: string; title: Record<Lang, string> } & Proof;

/** Makes the report of all layers. @param titles titles of all layers by smallkey */
export function reportOf(proofs: Proofs, titles: ReadonlyMap<string, Row["title"]>) {
	const rows = [...titles]
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.flatMap(([smallkey, title]): Row[] => {
			const proof = proofs.get(smallkey);
			return proof ? [{ smallkey, title, ...proof }] : [];
		});
	const notDrawn = rows.filter(({ since }) => since !== undefined);
	return {
		/** Number of all layers. */
		layers: titles.size,
		/** Number of layers that no run has drawn yet. */
		unknown: titles.size - rows.length,
		/** The longest failing first. */
		notDrawn: notDrawn.sort((a, b) => ((a.since ?? "") < (b.since ?? "") ? -1 : 1)),
		/** Sorted by smallkey. */
		drawn: rows.filter(({ since }) => since === undefined),
	};
}

const texts = {
	en: {
		title: "Proof that the layers draw",
		other: "Français",
		counts: (drawn: number, all: number) => `${drawn} of ${all} layers draw.`,
		unknown: (number: number) => `${number} ${number === 1 ? "was" : "were"} not drawn by any run yet.`,
		notDrawn: "Layers that do not draw",
		all: "Layers that draw",
		since: (day: string) => `not drawn since ${day}`,
		seen: "last look:",
		last: "the last picture",
		features: (number: number) => `${number} ${number === 1 ? "feature" : "features"}`,
		share: (percent: string) => `${percent}% of the map coloured`,
		picture: (title: string) => `Map of ${title}`,
		only: { en: "English only:", fr: "French only:" },
		locale: "en-CA",
	},
	fr: {
		title: "Preuve que les couches se dessinent",
		other: "English",
		counts: (drawn: number, all: number) =>
			`${drawn} ${drawn < 2 ? "couche" : "couches"} sur ${all} ${drawn < 2 ? "se dessine" : "se dessinent"}.`,
		unknown: (number: number) =>
			`${number} ${number < 2 ? "n’a pas encore été dessinée" : "n’ont pas encore été dessinées"}.`,
		notDrawn: "Couches qui ne se dessinent pas",
		all: "Couches qui se dessinent",
		since: (day: string) => `pas dessinée depuis le ${day}`,
		seen: "dernier examen\u00a0:",
		last: "la dernière image",
		features: (number: number) => `${number} ${number < 2 ? "entité" : "entités"}`,
		share: (percent: string) => `${percent}\u00a0% de la carte en couleur`,
		picture: (title: string) => `Carte de ${title}`,
		only: { en: "Anglais seulement\u00a0:", fr: "Français seulement\u00a0:" },
		locale: "fr-CA",
	},
};

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1d1d1d;background:#fff}
ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.5rem;list-style:none;padding:0}
li{border:1px solid #bbb;border-radius:4px;overflow:hidden}li img{display:block;width:100%;aspect-ratio:4/3;object-fit:cover;background:#e8eef2}
li div{padding:.5rem .75rem}h3{margin:0;font-size:1rem}p{margin:.25rem 0}.bad{color:#a40000}.old{opacity:.5}code{font-size:.875rem}time{white-space:nowrap}`;

/** Renders the report as a page without a script. Its pictures are in the same folder. */
export function reportHtml({ layers, unknown, notDrawn, drawn }: ReturnType<typeof reportOf>, lang: Lang) {
	const words = texts[lang];
	const other = lang === "en" ? "fr" : "en";
	const list = (rows: readonly Row[]) => `<ul>\n${rows.map((row) => itemHtml(row, lang)).join("\n")}\n</ul>`;
	const counts = [words.counts(drawn.length, layers), unknown > 0 && words.unknown(unknown)];
	return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${words.title}</title>
<style>${style}</style>
</head>
<body>
<p><a href="report.${other}.html" lang="${other}" hreflang="${other}">${words.other}</a></p>
<h1>${words.title}</h1>
<p><strong>${counts.filter(Boolean).join(" ")}</strong></p>
${notDrawn.length > 0 ? `<h2>${words.notDrawn}</h2>\n${list(notDrawn)}\n` : ""}<h2>${words.all}</h2>
${list(drawn)}
</body>
</html>
`;
}

function itemHtml({ smallkey, title: titles, day, since, picture, langs }: Row, lang: Lang): string {
	const words = texts[lang];
	const title = titles[lang];
	const isOld = since !== undefined;
	const image = picture
		? `<img src="${escapeHtml(picture)}" alt="${escapeHtml(isOld ? words.last : words.picture(title))}" width="240" height="180" loading="lazy"${isOld ? ' class="old"' : ""}>`
		: "";
	const own = langs[lang] ?? langs.en ?? langs.fr;
	const lines = [
		isOld && `<span class="bad">${words.since(`<time>${since}</time>`)}</span>`,
		own && escapeHtml(isOld ? failures(langs, lang) : factsText(own, lang)),
		`${words.seen} <time>${day}</time>`,
	];
	const paragraphs = lines.flatMap((line) => (line ? `<p>${line}</p>` : []));
	return `<li>${image}<div><h3>${escapeHtml(title)}</h3><p><code>${escapeHtml(smallkey)}</code></p>
${paragraphs.join("\n")}</div></li>`;
}

/** The page's message: in the report's language, or in the only language that did not draw. */
function failures(langs: Proof["langs"], lang: Lang): string {
	const failed = Object.entries(langs).filter(([, one]) => !one.isDrawn) as [Lang, LangProof][];
	const [first] = failed;
	const own = langs[lang]?.text ?? "";
	return first && failed.length === 1 ? `${texts[lang].only[first[0]]} ${first[1].text}` : own;
}

function factsText({ features, share, ms }: LangProof, lang: Lang): string {
	const words = texts[lang];
	const number = (value: number, digits: number) =>
		value.toLocaleString(words.locale, { maximumFractionDigits: digits });
	const facts = [
		features !== undefined && words.features(features),
		words.share(number(share * 100, share < 0.1 ? 1 : 0)),
		`${number(ms / 1000, 1)}\u00a0s`,
	];
	return facts.filter(Boolean).join(", ");
}
