import type { Bounds } from "../data/entries.ts";
import { askJson, ServiceFailed } from "../map/service-request.ts";
import { lang } from "../page/page-texts.ts";
import {
	type Document,
	documentAddress,
	featureLayersOf,
	lacksReference,
	layerProblem,
} from "../service/arcgis.ts";
import { textOf, wordOf } from "../service/decode.ts";
import type { ServiceAddress } from "./service-address.ts";

/** A layer of a service: its name in a WMS, or its number in an ArcGIS service. */
export interface ServiceLayer {
	name: string;
	title: string;
	/** In degrees; null if unknown. */
	bounds: Bounds | null;
	/** The geometry of a layer of features; empty for pictures. */
	geometry: string;
}

/** A service as it describes itself. */
export interface Service extends ServiceAddress {
	/** In the service's order. */
	layers: readonly ServiceLayer[];
	/** Codes of the languages that the service speaks, as it names them; empty if it names none. */
	languages: readonly string[];
}

/** Asks a service for its layers. @throws {ServiceFailed} if it cannot be asked, or answers with something else */
export async function readService(parsed: ServiceAddress): Promise<Service> {
	const { kind, url, chosen } = parsed;
	if (kind === "wms") return readWms(url, chosen);
	if (chosen !== "") return { ...parsed, layers: [await readArcgisLayer(url, chosen)], languages: [] };
	return { ...parsed, layers: await readArcgisLayers(url), languages: [] };
}

/** One layer of an ArcGIS service. @throws {ServiceFailed} */
async function readArcgisLayer(url: string, number: string): Promise<ServiceLayer> {
	const document = await askJson(documentAddress(url, `/${number}`));
	if (layerProblem(document)) throw new ServiceFailed(url, "no-map");
	const service = lacksReference(document) ? await askJson(documentAddress(url)) : {};
	return arcgisLayer({ id: number, ...document }, service);
}

/** The layers of features of an ArcGIS service, with their extents where the service lists them. @throws {ServiceFailed} */
async function readArcgisLayers(url: string): Promise<ServiceLayer[]> {
	// `/layers` has the extents; some servers do not have it.
	const whole = await askJson(documentAddress(url, "/layers")).then(featureLayersOf, () => null);
	const service = whole && !whole.some(lacksReference) ? {} : await askJson(documentAddress(url));
	const layers = whole ?? featureLayersOf(service);
	if (!layers) throw new ServiceFailed(url, "no-map");
	return Promise.all(layers.map((layer) => arcgisLayer(layer, service)));
}

async function arcgisLayer(layer: Document, service: Document): Promise<ServiceLayer> {
	const { inDegrees, readArea } = await import("../service/boxes.ts");
	const area = readArea(layer, service.spatialReference);
	const name = wordOf(layer.id);
	const title = textOf(layer.name) || name;
	return { name, title, bounds: area && inDegrees(area), geometry: textOf(layer.geometryType) };
}

/** A Web Map Service. @throws {ServiceFailed} */
async function readWms(url: string, chosen: string): Promise<Service> {
	const { readLayers } = await import("../map/document.ts");
	const { layers, languages } = await readLayers(url, chosen, lang);
	if (layers.length === 0) throw new ServiceFailed(url, "no-map");
	const isThere = layers.some(({ name }) => name === chosen);
	const only = layers.length === 1 ? (layers[0]?.name ?? "") : "";
	return { kind: "wms", url, layers, chosen: isThere ? chosen : only, languages };
}
