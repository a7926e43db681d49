import { createHash } from "node:crypto";
import { canonicalText } from "../../registry/registration.ts";
import { descriptionPath, type Lang, langs, layerPath } from "../../registry/smallkey.ts";
import { textsByLang } from "../../registry/texts/pairs.ts";
import { code, groupBy, plain, shorten } from "../../registry/untrusted.ts";
import { repairBranch } from "../../store/naming.ts";
import { descriptionText } from "../harvest/description.ts";
import { placeOf } from "../harvest/service.ts";
import { type Proposal, subjectOf } from "./proposal-branches.ts";
import type { Repair } from "./repair.ts";

export const repairTexts = textsByLang({
	same: ["The same layer at another place", "La même couche à un autre endroit"],
	perhaps: ["Perhaps the same layer at another place", "Peut-être la même couche à un autre endroit"],
	registered: ["registered", "inscrit"],
	before: ["Before", "Avant"],
	now: ["Now", "Maintenant"],
	agrees: ["Agrees", "Concorde"],
	yes: ["yes", "oui"],
	no: ["no", "non"],
	layer: ["Layer", "Couche"],
	redirect: ["the server redirects there permanently", "le serveur y redirige en permanence"],
	name: ["name", "nom"],
	geometry: ["geometry", "géométrie"],
	fields: ["fields", "champs"],
	place: ["extent", "étendue"],
	scale: ["scales", "échelles"],
	symbols: ["symbols", "symboles"],
	count: ["features", "entités"],
	title: ["title", "titre"],
	abstract: ["abstract", "résumé"],
	keywords: ["keywords", "mots-clés"],
});

/** One proposal for each layer, or for each service whose layers moved together. */
export function proposalsOf(repairs: readonly Repair[], declinedEvidence: ReadonlySet<string>): Proposal[] {
	const open = repairs.filter((repair) => !declinedEvidence.has(evidenceOf(repair)));
	const groups = groupBy(open, groupOf);
	const proposals = [...groups.values()].map((group) => {
		const sorted = group.toSorted((a, b) => (a.layer.smallkey < b.layer.smallkey ? -1 : 1));
		const smallkeys = sorted.map(({ layer }) => layer.smallkey);
		const [{ sure }] = sorted as [Repair];
		const evidenceIn = (lang: Lang, write: Write) =>
			sorted.map((repair) => repairText(repair, lang, write)).join("\n");
		return {
			branch: repairBranch(smallkeys[0] as string),
			smallkeys,
			sure,
			subject: subjectOf(smallkeys, sure),
			text: evidenceIn("en", (text) => plain(shorten(text, maxTextLength))),
			markdown: langs.map((lang) => evidenceIn(lang, code)).join("\n---\n\n"),
			evidence: sorted.map(evidenceOf),
			edits: sorted.flatMap(({ layer: { smallkey }, registration, description }) => [
				{ path: layerPath(smallkey), text: canonicalText(registration) },
				{ path: descriptionPath(smallkey), text: descriptionText(description) },
			]),
		};
	});
	return proposals.sort((a, b) => (a.branch < b.branch ? -1 : 1));
}

/** Sure matches that moved between the same origins, or between the same services of a server, form a group. */
function groupOf({ layer, registration, byLang, sure }: Repair) {
	if (sure !== "same") return layer.smallkey;
	const ways = byLang.map(({ lang }) => {
		const [from, to] = [layer.registration[lang].service_url, registration[lang].service_url];
		const [before, after] = [new URL(from).origin, new URL(to).origin];
		return before === after ? [from, to].map((address) => address.replace(/\/\d+\/?$/, "")) : [before, after];
	});
	return JSON.stringify(ways.length > 1 && `${ways[0]}` === `${ways[1]}` ? ways.slice(1) : ways);
}

/** Places and traits. The number of features changes daily, and would bring a declined proposal back. */
function evidenceOf({ layer, byLang }: Repair) {
	const facts = byLang.map(({ lang, candidate: { service_url, layer: name = null, agreement } }) => [
		lang,
		placeOf(layer.registration, lang),
		[
			[service_url, name],
			agreement.rows.filter(({ trait }) => trait !== "count").map(({ trait, agrees }) => [trait, agrees]),
		],
	]);
	const hash = createHash("sha256").update(JSON.stringify([layer.smallkey, facts]));
	return hash.digest("hex").slice(0, 16);
}

type Write = (text: string) => string;

const maxTextLength = 200;

function repairText({ layer, byLang }: Repair, lang: Lang, write: Write) {
	const texts = repairTexts[lang];
	const cell = (text: string) => (text === "" ? "" : write(text));
	const lines = [`${texts.layer} ${write(layer.smallkey)}`, ""];
	// Languages with the same service share their candidate.
	for (const [candidate, sharing] of groupBy(byLang, (item) => item.candidate)) {
		const { service_url, layer: name = "", isTarget, agreement } = candidate;
		const sharingLangs = sharing.map((item) => item.lang);
		const registered = write(placeOf(layer.registration, sharingLangs[0] as Lang));
		const place = write(`${service_url} ${name}`.trim());
		lines.push(
			`${sharingLangs.join(", ")}, ${texts.registered}: ${registered}`,
			"",
			`${texts[agreement.sure ?? "perhaps"]}: ${place}${isTarget ? ` (${texts.redirect})` : ""}`,
			"",
			`| | ${texts.before} | ${texts.now} | ${texts.agrees} |`,
			"|---|---|---|---|",
			...agreement.rows.map(({ trait, before, after, agrees }) => {
				return `| ${texts[trait]} | ${cell(before)} | ${cell(after)} | ${agrees ? texts.yes : `**${texts.no}**`} |`;
			}),
			"",
		);
	}
	return lines.join("\n");
}
