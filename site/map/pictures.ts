import ImageLayer from "ol/layer/Image.js";
import ImageArcGISRest from "ol/source/ImageArcGISRest.js";
import ImageWMS from "ol/source/ImageWMS.js";
import type View from "ol/View.js";
import { t } from "../page/texts.ts";
import type { Drawable } from "./drawable.ts";
import { projectionOf } from "./grid.ts";

/** A layer of a service's pictures on a map. */
export type Pictures = ImageLayer<ImageWMS | ImageArcGISRest>;

/**
 * Makes a layer that a service draws.
 * @param wkid spatial reference of the requests; if it differs from the map's, `proj4` must know both
 * @param failed is called with the address of a picture that failed to load
 */
export function pictureLayer(drawable: Drawable, wkid: number, failed: (address: string) => void): Pictures {
	const source = sourceOf(drawable, wkid);
	let lastAddress = "";
	source.setImageLoadFunction((image, address) => {
		lastAddress = address;
		(image.getImage() as HTMLImageElement).src = address;
	});
	source.on("imageloaderror", () => failed(lastAddress));
	return new ImageLayer({ source });
}

function sourceOf({ kind, url, entries }: Drawable, wkid: number): ImageWMS | ImageArcGISRest {
	const common = { url, projection: projectionOf(wkid), ratio: 1, hidpi: false };
	const layers = entries.join(",");
	if (kind !== "wms") {
		const params = entries.length > 0 ? { LAYERS: `show:${layers}` } : {};
		return new ImageArcGISRest({ ...common, params });
	}
	const params = { LAYERS: layers, FORMAT: "image/png", TRANSPARENT: true, STYLES: "" };
	return new ImageWMS({ ...common, params });
}

/** The picture of a layer's legend; null if the service has none. */
export function legendPicture(pictures: Pictures, { entries }: Drawable): HTMLImageElement | null {
	const source = pictures.getSource();
	if (!(source instanceof ImageWMS)) return null;
	const picture = new Image();
	picture.className = "picture";
	picture.alt = t("Legend");
	picture.referrerPolicy = "no-referrer";
	picture.src = source.getLegendUrl(undefined, { LAYER: entries[0], FORMAT: "image/png" }) ?? "";
	return picture;
}

/** Address of a GetFeatureInfo request; null if the layer has no information. */
export function infoAddress(
	pictures: Pictures | null,
	{ entries, infoType }: Drawable,
	coordinate: number[],
	view: View,
): string | null {
	const source = pictures?.getSource();
	if (!(source instanceof ImageWMS) || infoType === "") return null;
	const parameters = { INFO_FORMAT: infoType, QUERY_LAYERS: entries.join(","), FEATURE_COUNT: 10 };
	const resolution = view.getResolution() ?? 1;
	return source.getFeatureInfoUrl(coordinate, resolution, view.getProjection(), parameters) ?? null;
}
