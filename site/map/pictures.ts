import ImageLayer from "ol/layer/Image.js";
import ImageArcGISRest from "ol/source/ImageArcGISRest.js";
import ImageWMS from "ol/source/ImageWMS.js";
import type View from "ol/View.js";
import { texts } from "../page/page.ts";
import type { Drawable } from "./drawable.ts";
import { projectionOf } from "./grid.ts";

/** Pictures of a service over a map. */
export type Pictures = ImageLayer<ImageWMS | ImageArcGISRest>;

/**
 * A layer that a service draws.
 * @param wkid reference that the service is asked in; where it is not the map's, `proj4` has to know both
 * @param failed is called with the address of a picture that did not come
 */
export function pictureLayer(drawable: Drawable, wkid: number, failed: (address: string) => void): Pictures {
	const source = sourceOf(drawable, wkid);
	let asked = "";
	source.setImageLoadFunction((image, address) => {
		asked = address;
		(image.getImage() as HTMLImageElement).src = address;
	});
	source.on("imageloaderror", () => failed(asked));
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

/** A picture that explains the layer; null where there is none. */
export function legendPicture(pictures: Pictures, { entries }: Drawable): HTMLImageElement | null {
	const source = pictures.getSource();
	if (!(source instanceof ImageWMS)) return null;
	const picture = new Image();
	picture.className = "picture";
	picture.alt = texts.legend;
	picture.referrerPolicy = "no-referrer";
	picture.src = source.getLegendUrl(undefined, { LAYER: entries[0], FORMAT: "image/png" }) ?? "";
	return picture;
}

/** Address of what is known of a place; null where nothing can be asked. */
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
