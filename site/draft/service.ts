import type { Bounds } from "../data/entries.ts";
import { askJson, ServiceFailed } from "../map/service-request.ts";
import { layers as countText } from "../page/page.ts";
import { type Document, documentAddress, featureLayersOf, layerProblem } from "../service/arcgis.ts";
import { textOf, wordOf } from "../service/decode.ts";
import { t } from "./check.ts";
import type { ServiceAddress } from "./proposals.ts";

export interface ServiceLayer {
	name: string;
	title: string;
	/** Of an ArcGIS layer. */
	geometry?: string;
	/** Of a layer of a WMS. */
	bounds?: Bounds | null;
}

export interface Service extends ServiceAddress {
	layers: readonly ServiceLayer[];
}

export async function readService(parsed: ServiceAddress): Promise<Service> {
	const { kind, url, chosen } = parsed;
	const layers =
		kind === "wms"
			? await (await import("../map/document.ts")).readLayers(url, chosen)
			: await readArcgisLayers(url, chosen);
	if (layers.length === 0) throw new ServiceFailed(url, "no-map");
	const isListed = layers.some(({ name }) => name === chosen);
	const only = layers.length === 1 ? (layers[0] as ServiceLayer).name : "";
	return { kind, url, layers, chosen: isListed ? chosen : only };
}

/** @param number of the only layer that is read; empty: all layers */
async function readArcgisLayers(url: string, number: string): Promise<ServiceLayer[]> {
	if (number === "") {
		// `/layers` has the kinds of layers; some servers do not have it.
		const whole = await askJson(documentAddress(url, "/layers")).then(featureLayersOf, () => null);
		return (whole ?? featureLayersOf(await askJson(documentAddress(url))) ?? []).map(arcgisLayer);
	}
	const document = await askJson(documentAddress(url, `/${number}`));
	return layerProblem(document) ? [] : [arcgisLayer({ id: number, ...document })];
}

function arcgisLayer({ id, name, geometryType }: Document): ServiceLayer {
	return { name: wordOf(id), title: textOf(name) || wordOf(id), geometry: textOf(geometryType) };
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
