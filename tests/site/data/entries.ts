import type { CommitChanges } from "../../../site/data/changes.ts";
import type { Files } from "../../../site/data/chunks.ts";
import type { Entry } from "../../../site/data/entries.ts";
import { type CatalogueSettings, catalogueFiles } from "../../../site/data/files.ts";
import { randomFrom } from "../../bench/layers.ts";

/** Words as titles of map layers have them, English and French, the frequent ones first. */
const pairsOf = (text: string) =>
	text.split(/,\s+/).map((pair) => pair.trim().split("/") as [string, string]);
const subjects = pairsOf(`
	Water/Eau, Road/Route, Forest/Forêt, Census/Recensement, Climate/Climat, Soil/Sol, Fish/Poisson,
	Bird/Oiseau, Energy/Énergie, Railway/Chemin de fer, Pipeline/Pipeline, Glacier/Glacier,
	Earthquake/Séisme, School/École, Hospital/Hôpital, Airport/Aéroport, Wetland/Milieu humide,
	Wildfire/Feu de forêt, Radon/Radon, Permafrost/Pergélisol`);
const aspects = pairsOf(`
	quality/qualité, network/réseau, stations/stations, boundaries/limites, density/densité,
	change/changement, inventory/inventaire, risk/risque, monitoring sites/sites de surveillance,
	projections/projections, occurrence/occurrence, habitat/habitat`);
const places = ["Canada", "Ontario", "Québec", "Alberta", "Yukon", "Nunavut", "Manitoba", "Labrador"];
const syllables = "ka na to mi ra wa shi ne lo qui be sa ti mon ver dal".split(" ");

/** `count` entries with titles of some 100,000 different words in both languages, the same ones each time. */
export function* generateEntries(count: number): Generator<Entry> {
	const random = randomFrom(7);
	/** Low numbers are far more frequent, as words are (Zipf). */
	const pick = <T>(list: readonly T[]): T => list[Math.floor(list.length ** random()) - 1] as T;
	for (let index = 0; index < count; index += 1) {
		const name = Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join("");
		const place = name[0]?.toUpperCase() + name.slice(1);
		const [subject, sujet] = pick(subjects);
		const [aspect, aspet] = pick(aspects);
		const where = random() < 0.5 ? place : `${place}, ${pick(places)}`;
		const year = random() < 0.3 ? ` ${1970 + Math.floor(random() * 56)}` : "";
		const isFeature = index % 10 >= 7;
		const host = `${isFeature ? "gis" : "maps"}${Math.floor(200 ** random())}.example.ca`;
		const west = Math.floor(random() * 80_0000) / 10_000 - 140;
		const south = Math.floor(random() * 30_0000) / 10_000 + 42;
		const hash = () =>
			Math.floor(random() * 2 ** 52)
				.toString(16)
				.padStart(16, "0");
		yield {
			smallkey: `${Math.floor(random() * 36 ** 5).toString(36)}${index.toString(36)}`,
			type: isFeature ? "feature" : "wms",
			title: { en: `${subject} ${aspect} of ${where}${year}`, fr: `${sujet} : ${aspet}, ${where}${year}` },
			description: {
				en: `${aspect} of ${subject.toLowerCase()} as measured by ${place} since ${year || "1990"}`,
				fr: `${aspet} : ${sujet.toLowerCase()}, selon ${place} depuis ${year || "1990"}`,
			},
			keywords: { en: [subject, aspect, place], fr: [sujet, aspet] },
			address: {
				en: `https://${host}/arcgis/rest/services/${name}/MapServer${isFeature ? `/${index % 20}` : "/WMSServer"}`,
			},
			...(!isFeature && { layers: { en: [String(index % 20)] } }),
			sender: `Department ${1 + Math.floor(30 ** random())}`,
			changed: { commit: hash().slice(0, 12), date: "2026-03-04T12:00:00Z" },
			...(random() < 0.02 && { health: { state: "down" as const, since: "2026-W09" } }),
			...(random() < 0.01 && { health: null }),
			...(isFeature && { bounds: [west, south, west + 0.5, south + 0.4] as const }),
		};
	}
}

/**
 * All files of the catalogue that depend on layers: the index, the report of health, the changes, and the pages.
 * @param entries each smallkey once
 * @param history commits that touched layers, oldest first; null where it is not known
 */
export function buildCatalogue(
	entries: readonly Entry[],
	history: readonly CommitChanges[] | null,
	settings: CatalogueSettings,
): Files {
	const layers = new Map(entries.map((entry) => [entry.smallkey, entry]));
	return catalogueFiles(null, { layers, history: history ?? [] }, settings);
}

/** Commit number `at`, of a minute of its own. */
export function commitOf(at: number, layers: CommitChanges["layers"]): CommitChanges {
	const date = new Date(Date.UTC(2026, 0, 1, 0, at)).toISOString().replace(".000", "");
	return { commit: at.toString(16).padStart(40, "0"), date, layers };
}

/** The files on a disk after an update. */
export function filesAfter(disk: Files, files: Files): Files {
	return new Map([...disk, ...files].filter(([path]) => files.get(path) !== null));
}
