import type { Bounds } from "../data/entries.ts";
import { askJson, orFailure, ServiceFailed } from "../map/service-request.ts";
import { type Document, documentAddress, featureLayersOf, layerProblem } from "../service/arcgis.ts";
import { textOf, wordOf } from "../service/decode.ts";
import type { ServiceAddress } from "./service-address.ts";
import { langOf, twinAddresses, twinTexts } from "./twins.ts";

export interface ServiceLayer {
	name: string;
	title: string;
	geometry?: string;
	bounds?: Bounds | null;
}

export interface Service extends ServiceAddress {
	layers: readonly ServiceLayer[];
}

/** `layerName` is empty if the user must still choose the layer. @throws {ServiceFailed} */
export async function readService({ kind, url, layerName }: ServiceAddress): Promise<Service> {
	const layers =
		kind === "wms"
			? await (await import("../map/document.ts")).readLayers(url, layerName)
			: await readArcgisLayers(url, layerName);
	const [first] = layers;
	if (!first) throw new ServiceFailed(url, "no-picture");
	if (layers.length === 1) return { kind, url, layers, layerName: first.name };
	const isListed = layers.some(({ name }) => name === layerName);
	return { kind, url, layers, layerName: isListed ? layerName : "" };
}

/** @param number of the only layer to read; empty: all */
async function readArcgisLayers(url: string, number: string): Promise<ServiceLayer[]> {
	if (number === "") {
		// `/layers` has the kinds of layers; some servers do not have it.
		const layers = await askJson(documentAddress(url, "/layers")).then(featureLayersOf, () => null);
		return (layers ?? featureLayersOf(await askJson(documentAddress(url))) ?? []).map(arcgisLayer);
	}
	const document = await askJson(documentAddress(url, `/${number}`));
	return layerProblem(document) ? [] : [arcgisLayer({ id: number, ...document })];
}

function arcgisLayer({ id, name, geometryType }: Document): ServiceLayer {
	return { name: wordOf(id), title: textOf(name) || wordOf(id), geometry: textOf(geometryType) };
}

export interface Twin {
	url: string;
	layer: ServiceLayer;
}

const maxTwins = 4;

/** Services ignore unknown parameters: if only a parameter differs, the twin must have another title. */
export async function findTwin(service: Service, layer: ServiceLayer): Promise<Twin | null> {
	const { kind, url } = service;
	const lang = langOf(url);
	const names = twinTexts(layer.name, lang);
	for (const address of twinAddresses(url, lang).slice(0, maxTwins)) {
		const layerName = kind === "feature" ? layer.name : "";
		const candidate = await orFailure(readService({ kind, url: address, layerName }));
		if (candidate instanceof ServiceFailed) continue;
		const hasSameCount = service.layers.length === candidate.layers.length;
		const counterpart = hasSameCount ? candidate.layers[service.layers.indexOf(layer)] : undefined;
		const twin = findByName(candidate, [layer.name, ...names]) ?? counterpart;
		const differsByParameter = new URL(address).pathname === new URL(url).pathname;
		if (!twin || twin.geometry !== layer.geometry || (differsByParameter && twin.title === layer.title))
			continue;
		return { url: address, layer: twin };
	}
	// One service may have a layer for each language: `roads_en` and `roads_fr`.
	const twin = findByName(service, names);
	return twin && { url, layer: twin };
}

function findByName({ layers }: Service, names: readonly string[]): ServiceLayer | null {
	for (const name of names) {
		const layer = layers.find((layer) => layer.name === name);
		if (layer) return layer;
	}
	return null;
}
