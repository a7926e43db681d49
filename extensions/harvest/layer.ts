import { currentDescription, type Description, type LangDescription } from "../../registry/description.ts";
import { type Cause, causeOf } from "../../registry/health.ts";
import {
	harvestedLangs,
	isVersion2,
	type LangEntry,
	type LangNode,
	namedLayers,
	type Registration,
	serviceTypeOf,
	takesAllLayers,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { layerAddress } from "../../registry/targets/facts.ts";
import { findLayer } from "../../site/service/capabilities.ts";
import { checkSameLayer, withSiblings } from "./alike.ts";
import { askLayer, describeArcgisService } from "./arcgis/answers.ts";
import { describeLayer, lookAtFeatures, sketchLayer } from "./arcgis/feature-layer.ts";
import { Trouble } from "./ask.ts";
import { checkLayer } from "./check-layer.ts";
import {
	blockedOn,
	type Described,
	eachService,
	type Finding,
	findingOf,
	type Harvested,
	isSick,
	orNull,
	orTrouble,
} from "./finding.ts";
import { lookAtWms } from "./wms/look.ts";
import { type Clients, describeLayers } from "./wms/read-capabilities.ts";

export async function describe(registration: Registration, lang: Lang, clients: Clients): Promise<Described> {
	const { service_url: address } = registration[lang];
	const type = serviceTypeOf(registration, lang);
	if (type === "esriFeature") return describeLayer(address, clients);
	if (type !== "ogcWms" && type !== "ogcWmts") {
		const isWhole = isVersion2(registration) && takesAllLayers(registration[lang]);
		return describeArcgisService(address, type, isWhole, clients.ask);
	}
	const names = namedLayers(registration, lang);
	return describeLayers(type === "ogcWms" ? "WMS" : "WMTS", address, names, clients.read, lang);
}

/** Never rejects. @param before the last description: another layer at its address is a finding */
export async function harvestLayer(
	registration: Registration,
	before: Description | null,
	clients: Clients,
): Promise<Harvested> {
	const harvested: Harvested = { description: {}, partial: new Set(), findings: [] };
	const typeOf = (lang: Lang) => serviceTypeOf(registration, lang);
	const describeOwn = async (lang: Lang): Promise<Described> => {
		const described = await describe(registration, lang, clients);
		await checkSameLayer(currentDescription(registration, before, lang), described.description, clients);
		if (typeOf(lang) === "ogcWmts") return described;
		return { ...described, description: await withSiblings(described.description, clients) };
	};
	const answers = await eachService(
		registration,
		harvestedLangs(registration),
		(lang) => orTrouble(describeOwn(lang)),
		// A document of OGC may have texts in each language.
		(lang) => typeOf(lang).startsWith("ogc"),
	);
	for (const [lang, answer] of answers) {
		const trouble = answer instanceof Trouble ? answer : answer.missing;
		if (trouble) harvested.findings.push(findingOf(registration, lang, trouble));
		if (answer instanceof Trouble) continue;
		harvested.description[lang] = answer.description;
		if (trouble) harvested.partial.add(lang);
	}
	return harvested;
}

/**
 * Looks at a layer as a viewer does. Never rejects.
 * @param site address of the catalogue, whose pages have to draw the layer; empty: unknown; null: it does not matter
 */
export async function watchLayer(
	registration: Registration,
	before: Description | null,
	clients: Clients,
	site: string | null,
): Promise<Finding[]> {
	const { findings: checked } = await checkLayer(registration, clients);
	const findings = await Promise.all(checked.map((finding) => orDrawn(registration, finding, clients)));
	const well = langs.filter((lang) => !findings.some((finding) => finding.lang === lang && isSick(finding)));
	const looks = await eachService(registration, well, (lang) =>
		orTrouble(look(registration, lang, currentDescription(registration, before, lang), clients)),
	);
	for (const [lang, notes] of looks) {
		if (notes instanceof Trouble) findings.push(findingOf(registration, lang, notes));
		else findings.push(...notes.map((what) => findingOf(registration, lang, { state: "well", what })));
	}
	return [...findings, ...blockedOn(site, registration).filter(({ lang }) => well.includes(lang))];
}

/** Null if viewers draw pictures, or several layers. */
function featuresAt(registration: Registration, lang: Lang): string | null {
	const entry: LangEntry | LangNode = registration[lang];
	const type = serviceTypeOf(registration, lang);
	if (type === "esriFeature") return entry.service_url;
	if (type !== "esriFeatureServer" || !("scrape_only" in entry)) return null;
	const [id, second] = entry.scrape_only ?? [];
	return id === undefined || second !== undefined ? null : layerAddress(entry.service_url, id);
}

/** @returns what could not be seen of a layer that is well @throws {Trouble} */
async function look(
	registration: Registration,
	lang: Lang,
	before: LangDescription | null,
	clients: Clients,
): Promise<Cause[]> {
	const { service_url: address } = registration[lang];
	const { ask, read, mapWkid } = clients;
	const type = serviceTypeOf(registration, lang);
	// A whole service has no layer that could be another one.
	if (before && !("entries" in before)) {
		const now =
			type === "esriFeature"
				? askLayer(address, ask).then((layer) => sketchLayer(address, layer))
				: describe(registration, lang, clients).then(({ description }) => description);
		const description = await orNull<LangDescription>(now);
		if (description) await checkSameLayer(before, description, clients);
	}
	const features = featuresAt(registration, lang);
	if (features !== null) {
		const unseen = await lookAtFeatures(features, ask);
		return unseen ? [unseen] : [];
	}
	const [name] = type === "ogcWms" ? namedLayers(registration, lang) : [];
	if (name === undefined) return [];
	const capabilities = await orNull(read("WMS", address, [name]));
	const layer = capabilities && findLayer(capabilities, name)?.layer;
	if (!layer) return [];
	return (await lookAtWms({ address, name, capabilities, layer, mapWkid }, ask)).notes;
}

/** A WMS may draw a layer that it does not list. */
async function orDrawn(
	registration: Registration,
	finding: Finding,
	{ ask, read, mapWkid }: Clients,
): Promise<Finding> {
	const { lang, pointer, what } = finding;
	if (what.code !== "no-layer" || serviceTypeOf(registration, lang) !== "ogcWms") return finding;
	const { service_url: address } = registration[lang];
	const name = namedLayers(registration, lang)[Number(pointer.split("/")[3] ?? 0)] ?? "";
	const capabilities = await orNull(read("WMS", address, [name]));
	if (!capabilities) return finding;
	const look = await orNull(lookAtWms({ address, name, capabilities, layer: null, mapWkid }, ask));
	if (!look?.isDrawn) return finding;
	const drawn = { state: "well", what: causeOf("not-listed", ...what.values) } as const;
	return findingOf(registration, lang, drawn, pointer.split("/").slice(2).join("/"));
}
