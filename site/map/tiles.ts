import TileLayer from "ol/layer/Tile.js";
import XYZ from "ol/source/XYZ.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import type { SiteSettings } from "../page/settings.ts";
import { type BaseMap, projectionOf, resolutions } from "./base.ts";

/** Top left of Canada's official tile grid in EPSG:3978. */
const gridOrigin = [-34655800, 39310000];

/** Lays the configured base map under everything else. */
export function layTiles(base: BaseMap, { baseMap }: SiteSettings): void {
	const source = new XYZ({
		url: baseMap,
		projection: projectionOf(3978),
		tileGrid: new TileGrid({ origin: gridOrigin, resolutions: [...resolutions] }),
		transition: 0,
	});
	base.map.getLayers().insertAt(0, new TileLayer({ source }));
}
