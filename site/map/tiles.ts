import TileLayer from "ol/layer/Tile.js";
import XYZ from "ol/source/XYZ.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import { projectionOf, resolutions } from "./grid.ts";

/** Top left corner of Canada's official tile grid in EPSG:3978. */
const gridOrigin = [-34655800, 39310000];

/** A layer of the configured base map: tiles in the official grid. */
export function tileLayer(url: string): TileLayer<XYZ> {
	const source = new XYZ({
		url,
		projection: projectionOf(3978),
		tileGrid: new TileGrid({ origin: gridOrigin, resolutions: [...resolutions] }),
		transition: 0,
	});
	return new TileLayer({ source });
}
