import { render } from "lit-html";
import Feature from "ol/Feature.js";
import Polygon from "ol/geom/Polygon.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import type { Bounds, Entry } from "../data/entries.ts";
import { settings, t } from "../page/page.ts";
import { reproject } from "../service/projections.ts";
import { canadaBox, mapFrame, openBaseMap } from "./base.ts";
import type { Box } from "./drawable.ts";

export type Overview = ReturnType<typeof openOverview>;

export function openOverview(
	place: HTMLElement,
	view: Box | null,
	moved: (view: Box) => void,
	signal: AbortSignal,
) {
	const frame = mapFrame("map small", t("map-of-canada"), (steps) => base.zoom(steps), null);
	render(frame, place);
	const base = openBaseMap(place.querySelector(".map") as HTMLElement, signal);
	const shown = () => base.shown().map(Math.round) as Box;
	/** It is larger than the view in the address if its shape differs. */
	let fitted = "";
	const show = (box: Box | null) => {
		if (!box || box.join() === fitted) return;
		base.view.fit(box);
		fitted = shown().join();
	};
	if (view) show(view);
	else base.show(canadaBox());
	base.map.on("moveend", () => {
		const box = shown();
		if (box.join() === fitted) return;
		fitted = box.join();
		moved(box);
	});
	const source = new VectorSource();
	base.map.addLayer(new VectorLayer({ source, style }));
	const list = (layers: readonly Entry[]) => {
		const different = new Map(layers.map(({ bounds }) => [bounds?.join(), bounds]));
		const features = [...different.values()].flatMap((bounds) => {
			const ring = bounds && ringOf(bounds);
			return ring ? [new Feature(new Polygon([ring]))] : [];
		});
		source.clear(true);
		source.addFeatures(features);
		place.dataset.extents = String(features.length);
	};
	return { show, shown, list };
}

/** The sides of an extent are curves on the map. */
const pointsPerSide = 12;

/** Null if a part of the extent is outside the projection. */
function ringOf([west, south, east, north]: Bounds): number[][] | null {
	const shares = Array.from({ length: pointsPerSide }, (_, step) => step / pointsPerSide);
	const [width, height] = [east - west, north - south];
	const points = [
		...shares.map((share) => [west + width * share, south]),
		...shares.map((share) => [east, south + height * share]),
		...shares.map((share) => [east - width * share, north]),
		...shares.map((share) => [west, north - height * share]),
		[west, south],
	];
	const ring = points.map(([x = 0, y = 0]) => {
		const point = reproject({ wkid: 4326, xmin: x, ymin: y, xmax: x, ymax: y }, settings.mapWkid);
		return point && [point.xmin, point.ymin];
	});
	return ring.every((point) => point !== null) ? ring : null;
}

const style = new Style({
	stroke: new Stroke({ color: "#1f6fb5", width: 1.5 }),
	fill: new Fill({ color: "rgba(31, 111, 181, 0.06)" }),
});
