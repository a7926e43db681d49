import { createHash } from "node:crypto";
import { placeOf } from "../harvest/finding.ts";
import { descriptionText } from "../registry/description.ts";
import { code } from "../registry/markdown.ts";
import { canonicalText } from "../registry/registration.ts";
import { descriptionPath, type Lang, langs, layerPath } from "../registry/smallkey.ts";
import { type Edit, repairBranch } from "../store/store.ts";
import { counted, plain } from "../terminal/plain.ts";
import type { Candidate } from "./candidates.ts";
import type { Repair } from "./repair.ts";

/** A change that repairs one layer, or the layers of one service that moved together. */
export interface Proposal {
	/** `repair/<first smallkey>` */
	branch: string;
	smallkeys: string[];
	sure: Repair["sure"];
	/** The first line of the commit's message. */
	subject: string;
	/** The evidence: `text` in plain English for the commit, `markdown` in both languages for a pull request. */
	text: string;
	markdown: string;
	/** A hash of the evidence for each layer: after a refusal, nothing is proposed again on the same evidence. */
	evidence: string[];
	/** The files that change; empty if a person has to choose. */
	edits: Edit[];
}

/**
 * Makes proposals of repairs: one for each layer, or for each service whose layers moved together.
 * @param declined evidence of declined proposals; repairs with this evidence are left out
 */
export function proposalsOf(repairs: readonly Repair[], declined: ReadonlySet<string>): Proposal[] {
	const groups = new Map<string, Repair[]>();
	for (const repair of repairs.filter((one) => !declined.has(evidenceOf(one)))) {
		const name = groupOf(repair);
		groups.set(name, [...(groups.get(name) ?? []), repair]);
	}
	const proposals = [...groups.values()].map((group): Proposal => {
		const sorted = group.toSorted((a, b) => (a.layer.smallkey < b.layer.smallkey ? -1 : 1));
		const smallkeys = sorted.map(({ layer }) => layer.smallkey);
		const [{ sure }] = sorted as [Repair];
		const textIn = (lang: Lang, write: Write) =>
			sorted.map((repair) => repairText(repair, lang, write)).join("\n");
		return {
			branch: repairBranch(smallkeys[0] as string),
			smallkeys,
			sure,
			subject: subjectOf(smallkeys, sure),
			text: textIn("en", cut),
			markdown: langs.map((lang) => textIn(lang, code)).join("\n---\n\n"),
			evidence: sorted.map(evidenceOf),
			edits: sure === "choose" ? [] : sorted.flatMap(editsOf),
		};
	});
	return proposals.sort((a, b) => (a.branch < b.branch ? -1 : 1));
}

/** Repairs of one group become one proposal: sure matches that moved from the same service to the same other service. */
function groupOf({ layer, registration, langs, sure }: Repair): string {
	if (sure !== "same") return layer.smallkey;
	const ways = langs.map(({ lang }) =>
		[layer.registration, registration].map((one) => one[lang].service_url.replace(/\/\d+\/?$/, "")),
	);
	return JSON.stringify(ways);
}

function subjectOf(smallkeys: readonly string[], sure: Repair["sure"]): string {
	const [first, ...others] = smallkeys;
	const what = others.length === 0 ? first : `${first} and ${counted(others.length, "other layer")}`;
	if (sure === "choose") return `repair ${what}: choose one of several places`;
	return `repair ${what}: ${sure === "same" ? "" : "perhaps "}the same layer at another place`;
}

function editsOf({ layer: { smallkey }, registration, description }: Repair): Edit[] {
	return [
		{ path: layerPath(smallkey), text: canonicalText(registration) },
		{ path: descriptionPath(smallkey), text: descriptionText(description) },
	];
}

/**
 * A hash of a repair's evidence: the old place, the new places, and which traits agree. The number of features is left out:
 * it changes daily, and would bring a declined proposal back.
 */
function evidenceOf({ layer, langs }: Repair): string {
	const facts = langs.map(({ lang, candidates }) => [
		lang,
		placeOf(layer.registration, lang),
		...candidates.map(({ service_url, layer: name = null, agreement }) => [
			[service_url, name],
			agreement.rows.filter(({ trait }) => trait !== "count").map(({ trait, agrees }) => [trait, agrees]),
		]),
	]);
	const hash = createHash("sha256").update(JSON.stringify([layer.smallkey, facts]));
	return hash.digest("hex").slice(0, 16);
}

const texts = {
	en: {
		layer: "Layer",
		choose: "Several places agree alike. Nothing is changed: register the one that is right.",
		registered: "Registered",
		found: "Found",
		same: "the same layer",
		perhaps: "perhaps the same layer",
		by: {
			https: "https in place of http",
			redirect: "the server redirects there permanently",
			service: "the same service",
			folder: "another folder of the same server",
		},
		head: "| | known | found | agrees |",
		traits: {
			name: "name",
			geometry: "geometry",
			fields: "fields",
			place: "extent",
			symbols: "symbols",
			count: "features",
			title: "title",
			abstract: "abstract",
			keywords: "keywords",
		},
		yes: "yes",
		no: "no",
	},
	fr: {
		layer: "Couche",
		choose: "Plusieurs endroits concordent également. Rien n’est modifié : inscrivez celui qui est juste.",
		registered: "Inscrit",
		found: "Trouvé",
		same: "la même couche",
		perhaps: "peut-être la même couche",
		by: {
			https: "https au lieu de http",
			redirect: "le serveur y redirige en permanence",
			service: "le même service",
			folder: "un autre dossier du même serveur",
		},
		head: "| | connu | trouvé | concorde |",
		traits: {
			name: "nom",
			geometry: "géométrie",
			fields: "champs",
			place: "étendue",
			symbols: "symboles",
			count: "entités",
			title: "titre",
			abstract: "résumé",
			keywords: "mots-clés",
		},
		yes: "oui",
		no: "non",
	},
} satisfies Record<Lang, object>;

/** Makes untrusted text safe for the output. */
type Write = (text: string) => string;

/** Characters of an untrusted text in a commit. */
const maxTextLength = 200;

function cut(text: string): string {
	return plain(text.length > maxTextLength ? `${text.slice(0, maxTextLength).toWellFormed()}…` : text);
}

/** The evidence of a repair, in one language. */
function repairText({ layer, langs: found, sure }: Repair, lang: Lang, write: Write): string {
	const words = texts[lang];
	const lines = [`${words.layer} ${write(layer.smallkey)}`, ""];
	if (sure === "choose") lines.push(words.choose, "");
	// Languages with the same service share their candidates.
	for (const candidates of new Set(found.map((one) => one.candidates))) {
		const own = found.filter((one) => one.candidates === candidates).map((one) => one.lang);
		const registered = write(placeOf(layer.registration, own[0] as Lang));
		lines.push(`${words.registered} (${own.join(", ")}): ${registered}`, "");
		for (const candidate of candidates) lines.push(...candidateLines(candidate, lang, write));
	}
	return lines.join("\n");
}

function candidateLines(
	{ service_url, layer, by, agreement: { rows, sure } }: Candidate,
	lang: Lang,
	write: Write,
): string[] {
	const words = texts[lang];
	const place = write(layer === undefined ? service_url : `${service_url} ${layer}`);
	const cell = (text: string) => (text === "" ? "" : write(text));
	return [
		`${words.found}: ${place} (${words.by[by]}), ${words[sure === "same" ? "same" : "perhaps"]}`,
		"",
		words.head,
		"|---|---|---|---|",
		...rows.map(({ trait, before, after, agrees }) => {
			const agreesText = agrees ? words.yes : `**${words.no}**`;
			return `| ${words.traits[trait]} | ${cell(before)} | ${cell(after)} | ${agreesText} |`;
		}),
		"",
	];
}
