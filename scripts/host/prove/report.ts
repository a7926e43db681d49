import type { Lang } from "../../../registry/smallkey.ts";
import { type TextCode, textIn, textOf } from "../../../registry/texts.ts";
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

/** Texts of the report in one language, as HTML: their values have to be escaped. */
function wordsIn(lang: Lang) {
	const isOne = (count: number) => (lang === "en" ? count === 1 : count < 2);
	const say = (code: TextCode, ...values: (string | number)[]) => textIn(lang, textOf(code, ...values));
	const counted = (count: number, one: TextCode, many: TextCode, ...others: number[]) =>
		say(isOne(count) ? one : many, count, ...others);
	return { say, counted };
}

const locales = { en: "en-CA", fr: "fr-CA" };

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#1d1d1d;background:#fff}
ul{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:1.5rem;list-style:none;padding:0}
li{border:1px solid #bbb;border-radius:4px;overflow:hidden}li img{display:block;width:100%;aspect-ratio:4/3;object-fit:cover;background:#e8eef2}
li div{padding:.5rem .75rem}h3{margin:0;font-size:1rem}p{margin:.25rem 0}.bad{color:#a40000}.old{opacity:.5}code{font-size:.875rem}time{white-space:nowrap}`;

/** Renders the report as a page without a script. Its pictures are in the same folder. */
export function reportHtml({ layers, unknown, notDrawn, drawn }: ReturnType<typeof reportOf>, lang: Lang) {
	const { say, counted } = wordsIn(lang);
	const other = lang === "en" ? "fr" : "en";
	const list = (rows: readonly Row[]) => `<ul>\n${rows.map((row) => itemHtml(row, lang)).join("\n")}\n</ul>`;
	const counts = [
		counted(drawn.length, "proof-count", "proof-counts", layers),
		unknown > 0 && counted(unknown, "proof-unknown-one", "proof-unknown"),
	];
	return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${say("proof-title")}</title>
<style>${style}</style>
</head>
<body>
<p><a href="report.${other}.html" lang="${other}" hreflang="${other}">${lang === "en" ? "Français" : "English"}</a></p>
<h1>${say("proof-title")}</h1>
<p><strong>${counts.filter(Boolean).join(" ")}</strong></p>
${notDrawn.length > 0 ? `<h2>${say("proof-not-drawn")}</h2>\n${list(notDrawn)}\n` : ""}<h2>${say("proof-drawn")}</h2>
${list(drawn)}
</body>
</html>
`;
}

function itemHtml({ smallkey, title: titles, day, since, picture, langs }: Row, lang: Lang): string {
	const { say } = wordsIn(lang);
	const title = titles[lang];
	const isOld = since !== undefined;
	const image = picture
		? `<img src="${escapeHtml(picture)}" alt="${escapeHtml(isOld ? say("proof-last") : say("proof-picture", title))}" width="240" height="180" loading="lazy"${isOld ? ' class="old"' : ""}>`
		: "";
	const own = langs[lang] ?? langs.en ?? langs.fr;
	const lines = [
		isOld && `<span class="bad">${say("proof-since", `<time>${since}</time>`)}</span>`,
		own && escapeHtml(isOld ? failures(langs, lang) : factsText(own, lang)),
		say("proof-seen", `<time>${day}</time>`),
	];
	const paragraphs = lines.flatMap((line) => (line ? `<p>${line}</p>` : []));
	return `<li>${image}<div><h3>${escapeHtml(title)}</h3><p><code>${escapeHtml(smallkey)}</code></p>
${paragraphs.join("\n")}</div></li>`;
}

/** The page's message, or that nothing is visible: in the report's language, or in the only language that did not draw. */
function failures(langs: Proof["langs"], lang: Lang): string {
	const failed = Object.entries(langs).filter(([, one]) => !one.isDrawn) as [Lang, LangProof][];
	const [first] = failed;
	const { say } = wordsIn(lang);
	const textOf = ({ isBlank, text }: LangProof) => (isBlank ? say("proof-blank") : text);
	const own = langs[lang];
	if (first && failed.length === 1) return say(`proof-only-${first[0]}`, textOf(first[1]));
	return own ? textOf(own) : "";
}

function factsText({ features, share, ms }: LangProof, lang: Lang): string {
	const { say, counted } = wordsIn(lang);
	const number = (value: number, digits: number) =>
		value.toLocaleString(locales[lang], { maximumFractionDigits: digits });
	const facts = [
		features !== undefined && counted(features, "proof-feature", "proof-features"),
		say("proof-share", number(share * 100, share < 0.1 ? 1 : 0)),
		`${number(ms / 1000, 1)}\u00a0s`,
	];
	return facts.filter(Boolean).join(", ");
}
