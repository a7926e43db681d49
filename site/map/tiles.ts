import TileLayer from "ol/layer/Tile.js";
import XYZ from "ol/source/XYZ.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import { projectionOf, resolutions } from "./grid.ts";

/** A layer of the configured base map: tiles in the official grid. */
export function tileLayer(url: string): TileLayer<XYZ> {
	const source = new XYZ({
		url,
		projection: projectionOf(3978),
		// The top left corner of the official grid.
		tileGrid: new TileGrid({ origin: [-34655800, 39310000], resolutions: [...resolutions] }),
		transition: 0,
	});
	return new TileLayer({ source });
}
