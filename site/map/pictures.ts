import ImageLayer from "ol/layer/Image.js";
import type ImageSource from "ol/source/Image.js";
import ImageArcGISRest from "ol/source/ImageArcGISRest.js";
import ImageWMS from "ol/source/ImageWMS.js";
import type { BaseMap } from "./base.ts";
import type { Drawable } from "./drawable.ts";
import { projectionOf } from "./grid.ts";

/** Pictures of a service over the map, and what can be asked of them. */
export interface Pictures {
	layer: ImageLayer<ImageSource>;
	/** Address of what is known of a place; null where nothing can be asked. */
	infoAddress(coordinate: number[]): string | null;
	legendAddress(): string | null;
}

/** What happens to a picture. */
export interface PictureEvents {
	start(): void;
	end(): void;
	/** @param address what was asked for */
	fail(address: string): void;
}

/**
 * A layer that a service draws.
 * @param wkid reference that the service is asked in; where it is not the map's, `proj4` has to know both
 */
export function openPictures(
	base: BaseMap,
	drawable: Drawable,
	wkid: number,
	events: PictureEvents,
): Pictures {
	const projection = projectionOf(wkid);
	const source =
		drawable.kind === "wms" ? wms(drawable, projection.getCode()) : arcgis(drawable, projection.getCode());
	let asked = "";
	source.setImageLoadFunction((image, address) => {
		asked = address;
		(image.getImage() as HTMLImageElement).src = address;
	});
	source.on("imageloadstart", () => events.start());
	source.on("imageloadend", () => events.end());
	source.on("imageloaderror", () => events.fail(asked));
	const layer = new ImageLayer<ImageSource>({ source });
	base.map.addLayer(layer);
	const infoAddress = (coordinate: number[]) => {
		if (!(source instanceof ImageWMS) || drawable.infoType === "") return null;
		const resolution = base.view.getResolution() ?? 1;
		const parameters = {
			INFO_FORMAT: drawable.infoType,
			QUERY_LAYERS: drawable.entries.join(","),
			FEATURE_COUNT: 10,
		};
		return source.getFeatureInfoUrl(coordinate, resolution, base.view.getProjection(), parameters) ?? null;
	};
	const legendAddress = () =>
		source instanceof ImageWMS
			? (source.getLegendUrl(undefined, { LAYER: drawable.entries[0], FORMAT: "image/png" }) ?? null)
			: null;
	return { layer, infoAddress, legendAddress };
}

function wms({ url, entries }: Drawable, projection: string): ImageWMS {
	return new ImageWMS({
		url,
		projection,
		ratio: 1,
		hidpi: false,
		params: { LAYERS: entries.join(","), FORMAT: "image/png", TRANSPARENT: true, STYLES: "" },
	});
}

function arcgis({ url, entries }: Drawable, projection: string): ImageArcGISRest {
	const params = entries.length > 0 ? { LAYERS: `show:${entries.join(",")}` } : {};
	return new ImageArcGISRest({ url, projection, ratio: 1, hidpi: false, params });
}
