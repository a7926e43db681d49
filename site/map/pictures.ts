import { html } from "lit-html";
import ImageLayer from "ol/layer/Image.js";
import TileLayer from "ol/layer/Tile.js";
import Projection from "ol/proj/Projection.js";
import { addProjection, get as getProjection } from "ol/proj.js";
import ImageArcGISRest from "ol/source/ImageArcGISRest.js";
import ImageWMS from "ol/source/ImageWMS.js";
import XYZ from "ol/source/XYZ.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import { type Content, t } from "../page/page.ts";
import { type PictureFacts, pictureRequest } from "../service/requests.ts";
import type { Drawable } from "./drawable.ts";

export function tileLayer(url: string): TileLayer<XYZ> {
	const source = new XYZ({
		url,
		projection: projectionOf(3978),
		// The top left corner of the official grid.
		tileGrid: new TileGrid({ origin: [-34655800, 39310000], resolutions }),
		transition: 0,
	});
	return new TileLayer({ source });
}

/** Denominators of Canada's official tile grid in EPSG:3978 (CBMT/CBCT), whose pixels are 1/96 inch of 1/39.37 m. */
const scales = [
	145e6, 85e6, 50e6, 30e6, 17.5e6, 10e6, 6e6, 3.5e6, 2e6, 1.2e6, 7e5, 4.2e5, 2.5e5, 1.45e5, 85e3, 5e4, 3e4,
	17.5e3, 1e4, 6e3,
];

export const resolutions = scales.map((scale) => scale / 39.37 / 96);

/** A projection without a definition: coordinates are passed to services, not computed. */
export function projectionOf(wkid: number): Projection {
	const code = `EPSG:${wkid}`;
	const registered = getProjection(code);
	if (registered) return registered;
	const units = wkid === 4269 ? "degrees" : "m";
	const projection = new Projection({ code, units, extent: [-2e7, -2e7, 2e7, 2e7] });
	addProjection(projection);
	return projection;
}

export type Pictures = ImageLayer<ImageWMS | ImageArcGISRest>;

export function pictureLayer(
	{ kind, url, entries }: Drawable,
	wkid: number,
	facts: PictureFacts | null,
	failed: (address: string) => void,
): Pictures {
	const common = { projection: projectionOf(wkid), ratio: 1, hidpi: false };
	const shown = entries.length > 0 ? { LAYERS: `show:${entries.join(",")}` } : {};
	const options = { address: url, names: entries, reference: `EPSG:${wkid}` };
	const { address, parameters } = pictureRequest(facts, options);
	const source =
		kind === "wms"
			? new ImageWMS({ ...common, url: address, params: parameters })
			: new ImageArcGISRest({ ...common, url, params: shown });
	let lastAddress = "";
	source.setImageLoadFunction((image, requested) => {
		lastAddress = requested;
		(image.getImage() as HTMLImageElement).src = requested;
	});
	source.on("imageloaderror", () => failed(lastAddress));
	// Proofs hide it (extensions/prove).
	return new ImageLayer({ className: "drawnlayer", source });
}

/** Shown once it is loaded; empty if the service has none. */
export function legendPicture(pictures: Pictures, { entries }: Drawable): Content {
	const source = pictures.getSource();
	if (!(source instanceof ImageWMS)) return "";
	const address = source.getLegendUrl(undefined, { LAYER: entries[0], FORMAT: "image/png" }) ?? "";
	const show = ({ currentTarget }: Event) =>
		(currentTarget as Element).parentElement?.removeAttribute("hidden");
	return html`<div hidden><h3>${t("legend")}</h3>
		<img class="picture" alt=${t("legend")} referrerpolicy="no-referrer" src=${address} @load=${show}></div>`;
}
