import type { Bounds } from "../data/entries.ts";
import { askJson, ServiceFailed } from "../map/service-request.ts";
import { layers as countText } from "../page/page.ts";
import {
	type Document,
	documentAddress,
	featureLayersOf,
	lacksReference,
	layerProblem,
} from "../service/arcgis.ts";
import { textOf, wordOf } from "../service/decode.ts";
import { t } from "./check.ts";
import type { ServiceAddress } from "./proposals.ts";

export interface ServiceLayer {
	name: string;
	title: string;
	bounds: Bounds | null;
	/** Empty for pictures. */
	geometry: string;
}

export interface Service extends ServiceAddress {
	layers: readonly ServiceLayer[];
	/** Codes; empty if the service names none. */
	languages: readonly string[];
}

export async function readService(parsed: ServiceAddress): Promise<Service> {
	const { kind, url, chosen } = parsed;
	if (kind === "wms") return readWms(url, chosen);
	if (chosen !== "") return { ...parsed, layers: [await readArcgisLayer(url, chosen)], languages: [] };
	return { ...parsed, layers: await readArcgisLayers(url), languages: [] };
}

async function readArcgisLayer(url: string, number: string): Promise<ServiceLayer> {
	const document = await askJson(documentAddress(url, `/${number}`));
	if (layerProblem(document)) throw new ServiceFailed(url, "no-map");
	const service = lacksReference(document) ? await askJson(documentAddress(url)) : {};
	return arcgisLayer({ id: number, ...document }, service);
}

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

async function readWms(url: string, chosen: string): Promise<Service> {
	const { readLayers } = await import("../map/document.ts");
	const { layers, languages } = await readLayers(url, chosen);
	if (layers.length === 0) throw new ServiceFailed(url, "no-map");
	const isListed = layers.some(({ name }) => name === chosen);
	const only = layers.length === 1 ? (layers[0] as ServiceLayer).name : "";
	return { kind: "wms", url, layers, chosen: isListed ? chosen : only, languages };
}

const maxOffered = 500;

export function layerOptions(layers: readonly ServiceLayer[]) {
	const options = layers.slice(0, maxOffered).map(({ name, title, bounds }) => {
		const text = title === "" || title === name ? name : `${title} (${name})`;
		return [name, bounds ? `${text} · ${boundsText(bounds)}` : text] as const;
	});
	return [["", t("choose-of", countText(layers.length))] as const, ...options];
}

/** `49°N – 60°N, 139°W – 114°W` */
function boundsText([west, south, east, north]: Bounds): string {
	const place = (value: number, positive: string, negative: string) =>
		`${Math.abs(Math.round(value))}°${value < 0 ? negative : positive}`;
	const [left, right] = [west, east].map((value) => place(value, "E", t("west")));
	return `${place(south, "N", "S")} – ${place(north, "N", "S")}, ${left} – ${right}`;
}
