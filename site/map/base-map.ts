import ScaleLine from "ol/control/ScaleLine.js";
import DragPan from "ol/interaction/DragPan.js";
import KeyboardPan from "ol/interaction/KeyboardPan.js";
import KeyboardZoom from "ol/interaction/KeyboardZoom.js";
import MouseWheelZoom from "ol/interaction/MouseWheelZoom.js";
import PinchZoom from "ol/interaction/PinchZoom.js";
import ImageLayer from "ol/layer/Image.js";
import TileLayer from "ol/layer/Tile.js";
import OlMap from "ol/Map.js";
import type MapBrowserEvent from "ol/MapBrowserEvent.js";
import Projection from "ol/proj/Projection.js";
import { addProjection, get as getProjection } from "ol/proj.js";
import ImageStatic from "ol/source/ImageStatic.js";
import XYZ from "ol/source/XYZ.js";
import TileGrid from "ol/tilegrid/TileGrid.js";
import View from "ol/View.js";
import { land, settings } from "../page/page.ts";
import type { Box } from "./drawable.ts";

/** Canada's official tile grid in EPSG:3978 (CBMT/CBCT); a pixel is 1/96 inch of 1/39.37 m. */
const scales = [
	145e6, 85e6, 50e6, 30e6, 17.5e6, 10e6, 6e6, 3.5e6, 2e6, 1.2e6, 7e5, 4.2e5, 2.5e5, 1.45e5, 85e3, 5e4, 3e4,
	17.5e3, 1e4, 6e3,
];

const resolutions = scales.map((scale) => scale / 39.37 / 96);

/** Needs no definition: coordinates are passed to services, not computed. */
export function projectionOf(wkid: number): Projection {
	const code = `EPSG:${wkid}`;
	const registered = getProjection(code);
	if (registered) return registered;
	const units = wkid === 4269 ? "degrees" : "m";
	const projection = new Projection({ code, units, extent: [-2e7, -2e7, 2e7, 2e7] });
	addProjection(projection);
	return projection;
}

export function openBaseMap(target: HTMLElement, signal: AbortSignal) {
	const projection = projectionOf(settings.mapWkid);
	const view = new View({
		projection,
		// Some layers are drawn only at scales that the official grid does not have.
		resolutions: settings.mapWkid === 3978 ? [...resolutions, 0.8, 0.4, 0.2, 0.1] : undefined,
		showFullExtent: true,
		enableRotation: false,
		center: [0, 0],
		zoom: 2,
	});
	const duration = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
	const hasFocus = () => document.activeElement === target;
	const map = new OlMap({
		target,
		view,
		controls: [new ScaleLine({ units: "metric" })],
		interactions: [
			// One finger scrolls the page, two move the map.
			new DragPan({ condition: isDrag }),
			new PinchZoom(),
			new KeyboardPan({ duration }),
			new KeyboardZoom({ duration }),
			new MouseWheelZoom({ condition: hasFocus, duration }),
		],
	});
	signal.addEventListener("abort", () => map.setTarget(undefined));
	void addBackground(map);
	return {
		map,
		view,
		show: (box: Box) => view.fit(box, { padding: [16, 16, 16, 16], maxZoom: 12 }),
		shown: () => view.calculateExtent(map.getSize()) as Box,
		zoom: (steps: number) => view.animate({ zoom: (view.getZoom() ?? 2) + steps, duration }),
	};
}

function isDrag({ originalEvent, activePointers }: MapBrowserEvent): boolean {
	const isTouch = originalEvent instanceof PointerEvent && originalEvent.pointerType === "touch";
	return !isTouch || (activePointers?.length ?? 0) > 1;
}

/** Both backgrounds are in EPSG:3978; other maps reproject them. */
async function addBackground(map: OlMap) {
	if (settings.mapWkid !== 3978) await registerProjections(settings.mapWkid);
	const { baseMap } = settings;
	const projection = projectionOf(3978);
	const layer =
		baseMap === ""
			? new ImageLayer({
					// As in site/map/land.svg.
					source: new ImageStatic({
						url: land,
						imageExtent: [-6_000_000, -3_600_000, 6_000_000, 6_000_000],
						projection,
					}),
				})
			: new TileLayer({
					source: new XYZ({
						url: baseMap,
						projection,
						tileGrid: new TileGrid({ origin: [-34655800, 39310000], resolutions }),
						transition: 0,
					}),
				});
	map.getLayers().insertAt(0, layer);
}

/** Reprojecting pictures needs it. Also registers EPSG:3978. */
export async function registerProjections(...wkids: number[]): Promise<void> {
	const [{ register }, { default: proj4 }, projections] = await Promise.all([
		import("ol/proj/proj4.js"),
		import("proj4"),
		import("../service/projections.ts"),
	]);
	for (const wkid of [3978, ...wkids]) proj4.defs(`EPSG:${wkid}`, projections.projectionOf(wkid) ?? "");
	register(proj4);
}
