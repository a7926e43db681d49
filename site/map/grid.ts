import Projection from "ol/proj/Projection.js";
import { addProjection, get as knownProjection } from "ol/proj.js";

/** Metres per pixel at each level of Canada's official tile grid in EPSG:3978 (CBMT/CBCT). */
export const resolutions: readonly number[] = [
	38364.660062653464, 22489.62831258996, 13229.193125052918, 7937.5158750317505, 4630.2175937685215,
	2645.8386250105837, 1587.5031750063501, 926.0435187537042, 529.1677250021168, 317.50063500127004,
	185.20870375074085, 111.12522225044451, 66.1459656252646, 38.36466006265346, 22.48962831258996,
	13.229193125052918, 7.9375158750317505, 4.6302175937685215, 2.6458386250105836, 1.5875031750063502,
];

/** The projection of a spatial reference, without a definition: coordinates are passed to services, not computed. */
export function projectionOf(wkid: number): Projection {
	const code = `EPSG:${wkid}`;
	const known = knownProjection(code);
	if (known) return known;
	const projection = new Projection({
		code,
		units: wkid === 4269 ? "degrees" : "m",
		extent: [-2e7, -2e7, 2e7, 2e7],
	});
	addProjection(projection);
	return projection;
}
