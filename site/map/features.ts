import { html, type TemplateResult } from "lit-html";
import Feature, { type FeatureLike } from "ol/Feature.js";
import EsriJSON from "ol/format/EsriJSON.js";
import type Geometry from "ol/geom/Geometry.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import Fill from "ol/style/Fill.js";
import Icon from "ol/style/Icon.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import { settings } from "../page/page.ts";
import { t } from "../page/texts.ts";
import { askJson } from "./ask.ts";
import type { Box, Drawable } from "./drawable.ts";
import { type Colours, coloursOf, type Symbology, symbolOf, symbolsOf } from "./symbols.ts";

const maxFeatures = 1_000;

/** A layer of features on a map. */
export type Features = VectorLayer<VectorSource<Feature<Geometry>>>;

interface EsriFeature {
	attributes?: Record<string, unknown>;
	geometry?: object | null;
}

/** Makes an empty layer of features with the fragment's symbols. */
export function featureLayer({ symbology }: Drawable): Features {
	const source = new VectorSource<Feature<Geometry>>();
	const layer: Features = new VectorLayer({ source, style: styleOf(symbology, () => layer.changed()) });
	return layer;
}

/** Reads the features in a rectangle, and whether the service has more of them. @throws {ServiceFailed} */
export async function readFeatures(url: string, box: Box, resolution: number, signal: AbortSignal) {
	const answer = await askJson(queryAddress(url, box, resolution), signal);
	const features = ((answer.features ?? []) as EsriFeature[]).slice(0, maxFeatures).flatMap(readFeature);
	return { features, hasMore: answer.exceededTransferLimit === true };
}

/** The query that RAMP sends when the map moves: features in the view, in the map's reference, simplified to a pixel. */
function queryAddress(url: string, box: Box, resolution: number): string {
	const address = new URL(url);
	address.pathname = `${address.pathname.replace(/(?<!\/)\/+$/, "")}/query`;
	const parameters: Record<string, string> = {
		f: "json",
		where: "1=1",
		geometry: box.map(Math.round).join(","),
		geometryType: "esriGeometryEnvelope",
		spatialRel: "esriSpatialRelIntersects",
		inSR: String(settings.mapWkid),
		outSR: String(settings.mapWkid),
		outFields: "*",
		returnGeometry: "true",
		maxAllowableOffset: String(resolution),
		resultRecordCount: String(maxFeatures),
	};
	for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
	return address.href;
}

const format = new EsriJSON();

/** Reads a feature; empty if it has no geometry, or one that cannot be read. */
function readFeature({ geometry, attributes = {} }: EsriFeature): Feature<Geometry>[] {
	try {
		const read = geometry ? format.readGeometry(geometry) : null;
		const feature = new Feature<Geometry>({ attributes });
		feature.setGeometry(read ?? undefined);
		return read ? [feature] : [];
	} catch {
		return [];
	}
}

/** A function for the style of a feature. Each picture is read once. @param changed called after a picture was read */
function styleOf(symbology: Symbology | null, changed: () => void) {
	const known = new Map<string, Style | undefined>();
	return (feature: FeatureLike): Style | undefined => {
		const symbol = symbology && symbolOf(symbology, feature.get("attributes"));
		if (!symbol) return undefined;
		const { imageUrl } = symbol;
		const type = feature.getGeometry()?.getType() ?? "";
		const isPoint = type.endsWith("Point");
		const isArea = type.endsWith("Polygon");
		const key = `${isPoint} ${isArea} ${imageUrl}`;
		if (known.has(key)) return known.get(key);
		known.set(key, isPoint ? new Style({ image: new Icon({ src: imageUrl }) }) : undefined);
		if (!isPoint)
			void readColours(imageUrl, isArea).then(({ stroke, fill, width }) => {
				const line = stroke ? { stroke: new Stroke({ color: stroke, width }) } : {};
				known.set(key, new Style({ ...line, ...(fill && { fill: new Fill({ color: fill }) }) }));
				changed();
			});
		return known.get(key);
	};
}

/** The colours of a picture; grey if it cannot be read. */
async function readColours(imageUrl: string, isArea: boolean): Promise<Colours> {
	const image = new Image();
	image.src = imageUrl;
	try {
		await image.decode();
		const canvas = document.createElement("canvas");
		canvas.width = image.naturalWidth;
		canvas.height = image.naturalHeight;
		const context = canvas.getContext("2d", { willReadFrequently: true }) as CanvasRenderingContext2D;
		context.drawImage(image, 0, 0);
		const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
		return coloursOf(data, canvas.width, canvas.height, isArea);
	} catch {
		return { stroke: "rgb(90 90 90)", fill: null, width: 1.5 };
	}
}

const maxSymbols = 200;

/** The legend of a fragment's symbols. */
export function legendOf(symbology: Symbology): TemplateResult {
	const symbols = symbolsOf(symbology).slice(0, maxSymbols);
	const items = symbols.map(({ imageUrl, label }) => {
		// Pictures in fragments are data URIs; no other address is loaded.
		const isPicture = String(imageUrl).startsWith("data:image/");
		return html`<li>${isPicture ? html`<img src=${imageUrl} alt="">` : ""}<span>${label || t("Others")}</span></li>`;
	});
	return html`<div><h3>${t("Legend")}</h3><ul>${items}</ul></div>`;
}
