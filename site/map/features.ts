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
import type { Symbology } from "../../registry/targets/ramp.ts";
import { settings, t } from "../page/page.ts";
import { documentAddress } from "../service/arcgis.ts";
import type { Box, Drawable } from "./drawable.ts";
import { askJson } from "./service-request.ts";

const maxFeatures = 1_000;

interface EsriFeature {
	attributes?: Record<string, unknown>;
	geometry?: object | null;
}

export function featureLayer({ symbology }: Drawable) {
	const layer = new VectorLayer({ className: "drawnlayer", source: new VectorSource<Feature<Geometry>>() });
	layer.setStyle(styleOf(symbology, () => layer.changed()));
	return layer;
}

export async function readFeatures(url: string, box: Box, resolution: number, signal: AbortSignal) {
	const answer = await askJson(queryAddress(url, box, resolution), signal);
	const features = ((answer.features ?? []) as EsriFeature[]).slice(0, maxFeatures).flatMap(readFeature);
	return { features, hasMore: answer.exceededTransferLimit === true };
}

/** The query that RAMP sends when the map moves, simplified to a pixel. */
function queryAddress(url: string, box: Box, resolution: number): string {
	return documentAddress(url, "/query", {
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
	});
}

const format = new EsriJSON();

function readFeature({ geometry, attributes = {} }: EsriFeature): Feature<Geometry>[] {
	try {
		const read = geometry && (format.readGeometry(geometry) as Geometry);
		return read ? [new Feature({ attributes, geometry: read })] : [];
	} catch {
		return [];
	}
}

function styleOf(symbology: Symbology | null, changed: () => void) {
	const styles = new Map<string, Style | undefined>();
	return (feature: FeatureLike): Style | undefined => {
		const symbol = symbology && symbolOf(symbology, feature.get("attributes"));
		if (!symbol) return undefined;
		const { imageUrl } = symbol;
		const [kind = "Line"] = /Point$|Polygon$/.exec(feature.getGeometry()?.getType() ?? "") ?? [];
		const key = `${kind} ${imageUrl}`;
		if (styles.has(key)) return styles.get(key);
		const icon = kind === "Point" ? new Style({ image: new Icon({ src: imageUrl }) }) : undefined;
		styles.set(key, icon);
		if (!icon)
			void readStyle(imageUrl, kind === "Polygon").then((style) => {
				styles.set(key, style);
				changed();
			});
		return icon;
	};
}

type LayerSymbol = Pick<Extract<Symbology, { type: "simple" }>, "imageUrl" | "label">;

/** As in RAMP 4.0: the value 1 is not "1"; values of several fields are joined. */
function symbolOf(symbology: Symbology, attributes: Record<string, unknown>): LayerSymbol | null {
	if (symbology.type === "simple") return symbology;
	if (symbology.type === "classBreaks") {
		const value = attributes[symbology.field];
		const isInside = typeof value === "number" && value >= symbology.minValue;
		const match = isInside && symbology.rangeMaps.find(({ maxValue }) => value <= maxValue);
		return match || rest(symbology);
	}
	const { field1, field2, field3, valueMaps } = symbology;
	const values = [field1, field2, field3].flatMap((field) => (field ? [attributes[field]] : []));
	// RAMP writes "null" for a missing value.
	const value = values.length === 1 ? values[0] : values.map(String).join(", ");
	return valueMaps.find((map) => map.value === value) ?? rest(symbology);
}

function rest({ defaultImageUrl, label = "" }: Exclude<Symbology, LayerSymbol>): LayerSymbol | null {
	return defaultImageUrl ? { imageUrl: defaultImageUrl, label } : null;
}

async function readStyle(imageUrl: string, isArea: boolean): Promise<Style> {
	const image = new Image();
	image.src = imageUrl;
	try {
		await image.decode();
		const { naturalWidth: width, naturalHeight: height } = image;
		const context = new OffscreenCanvas(width, height).getContext("2d") as OffscreenCanvasRenderingContext2D;
		context.drawImage(image, 0, 0);
		return styleOfPicture(context.getImageData(0, 0, width, height), isArea);
	} catch {
		return new Style({ stroke: new Stroke({ color: grey, width: 1.5 }) });
	}
}

const grey = "rgb(90 90 90)";

/** Fragments have symbols only as pictures: the most frequent colour, except the middle's, is the outline. */
function styleOfPicture({ data, width, height }: ImageData, isArea: boolean): Style {
	const counts = new Map<string, number>();
	for (let offset = 0; offset < data.length; offset += 4) {
		const colour = readPixel(data, offset);
		if (colour) counts.set(colour, (counts.get(colour) ?? 0) + 1);
	}
	const byCount = [...counts].sort((a, b) => b[1] - a[1]).map(([colour]) => colour);
	if (!isArea) return new Style({ stroke: new Stroke({ color: byCount[0] ?? grey, width: 2.5 }) });
	const middle = readPixel(data, ((height >> 1) * width + (width >> 1)) * 4);
	const outline = byCount.find((colour) => colour !== middle) ?? middle ?? grey;
	const fill = middle && { fill: new Fill({ color: middle }) };
	return new Style({ stroke: new Stroke({ color: outline, width: 1.2 }), ...fill });
}

const minAlpha = 40;

function readPixel(pixels: Uint8ClampedArray, offset: number): string | null {
	const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.subarray(offset, offset + 4);
	const opacity = alpha === 255 ? "" : ` / ${(alpha / 255).toFixed(2)}`;
	return alpha < minAlpha ? null : `rgb(${red} ${green} ${blue}${opacity})`;
}

function symbolsOf(symbology: Symbology): LayerSymbol[] {
	if (symbology.type === "simple") return [symbology];
	const maps = symbology.type === "uniqueValue" ? symbology.valueMaps : symbology.rangeMaps;
	return [...maps, rest(symbology) ?? []].flat();
}

export function legendOf(symbology: Symbology): TemplateResult {
	const items = symbolsOf(symbology).map(({ imageUrl, label }) => {
		// Pictures in fragments are data URIs; no other address is loaded.
		const isPicture = String(imageUrl).startsWith("data:image/");
		return html`<li>${isPicture ? html`<img src=${imageUrl} alt="">` : ""}<span>${label || t("others")}</span></li>`;
	});
	return html`<div><h3>${t("legend")}</h3><ul>${items}</ul></div>`;
}
