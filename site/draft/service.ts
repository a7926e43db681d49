import type { Bounds } from "../data/entries.ts";
import { askCapabilities, askJson, ServiceFailed } from "../map/ask.ts";
import { lang } from "../page/texts.ts";
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

type Document = Record<string, unknown>;

function withPath(url: string, more: string): string {
	const address = new URL(url);
	address.pathname += more;
	address.searchParams.set("f", "json");
	return address.href;
}

/** One layer of an ArcGIS service. @throws {ServiceFailed} */
async function readArcgisLayer(url: string, number: string): Promise<ServiceLayer> {
	const document = await askJson(withPath(url, `/${number}`));
	if (typeof document.name !== "string") throw new ServiceFailed(url, "no-map");
	return arcgisLayer({ id: number, ...document });
}

/** The layers of features of an ArcGIS service, with their extents where the service lists them. @throws {ServiceFailed} */
async function readArcgisLayers(url: string): Promise<ServiceLayer[]> {
	const listed = (document: Document) =>
		Array.isArray(document.layers) ? (document.layers as Document[]) : null;
	// `/layers` has the extents; some servers do not have it.
	const whole = await askJson(withPath(url, "/layers")).then(listed, () => null);
	const layers = whole ?? listed(await askJson(withPath(url, "")));
	if (!layers) throw new ServiceFailed(url, "no-map");
	const isFeatures = ({ type, subLayerIds }: Document) =>
		typeof type === "string" ? type === "Feature Layer" : !Array.isArray(subLayerIds);
	return Promise.all(layers.filter(isFeatures).map(arcgisLayer));
}

async function arcgisLayer({ id, name, extent, geometryType }: Document): Promise<ServiceLayer> {
	const { xmin, ymin, xmax, ymax, spatialReference } = (extent ?? {}) as Document;
	const { latestWkid, wkid = 0 } = (spatialReference ?? {}) as { latestWkid?: number; wkid?: number };
	const [west, south, east, north] = [xmin, ymin, xmax, ymax].map(Number) as [number, number, number, number];
	const isKnown = [west, south, east, north].every(Number.isFinite) && extent != null;
	const { boundsOfExtent } = await import("../../registry/projections.ts");
	const box = { wkid: latestWkid ?? wkid, xmin: west, ymin: south, xmax: east, ymax: north };
	const bounds = isKnown ? boundsOfExtent(box) : null;
	const geometry = typeof geometryType === "string" ? geometryType : "";
	return { name: String(id), title: String(name ?? id), bounds: bounds ?? null, geometry };
}

/** A Web Map Service. @throws {ServiceFailed} */
async function readWms(url: string, chosen: string): Promise<Service> {
	const capabilities = await askCapabilities(url, [chosen]);
	const { boxOf, textFor } = await import("../service/capabilities.ts");
	const layers = [...capabilities.layers].map(([name, layer]) => {
		const title = textFor(layer.title, lang).replace(/\s+/g, " ");
		return { name, title, bounds: boxOf(layer, capabilities), geometry: "" };
	});
	if (layers.length === 0) throw new ServiceFailed(url, "no-map");
	const { languages } = capabilities;
	const isThere = layers.some(({ name }) => name === chosen);
	const only = layers.length === 1 ? (layers[0]?.name ?? "") : "";
	return { kind: "wms", url, layers, chosen: isThere ? chosen : only, languages };
}
