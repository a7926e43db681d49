import type OlMap from "ol/Map.js";
import Overlay from "ol/Overlay.js";
import { reproject } from "../../registry/projections.ts";
import { settings } from "../page/page.ts";
import { lang } from "../page/texts.ts";
import places from "./places.json";

/** A name on the map. */
interface Place {
	lon: number;
	lat: number;
	kind: keyof typeof places;
	name: string;
	/** What is shown at small scales; empty for nothing. */
	short: string;
}

/** Metres per pixel up to which names of a kind are shown in full. */
const maxResolution = { provinces: 5_500, waters: 12_000, capitals: 5_500, towns: 2_500 };

const inLang = (en: string, fr = en) => (lang === "fr" ? fr : en);

/** The names, in the language of the page. */
function allPlaces(): Place[] {
	const { provinces, ...others } = places;
	const kinds = Object.entries(others) as [keyof typeof others, [number, number, string, string?][]][];
	return [
		...(provinces as [string, number, number, string, string][]).map(([short, lon, lat, en, fr]) => {
			return { lon, lat, kind: "provinces" as const, name: inLang(en, fr), short };
		}),
		...kinds.flatMap(([kind, rows]) =>
			rows.map(([lon, lat, en, fr]) => ({ lon, lat, kind, name: inLang(en, fr), short: "" })),
		),
	];
}

/** Writes the names of provinces, waters and towns on a map, as many as its scale has room for. */
export function addPlaces(map: OlMap): void {
	const shown = allPlaces().flatMap((place) => {
		const { lon, lat, kind } = place;
		const point = reproject({ wkid: 4326, xmin: lon, ymin: lat, xmax: lon, ymax: lat }, settings.mapWkid);
		if (!point) return [];
		const element = document.createElement("span");
		element.className = `placename ${kind}`;
		element.ariaHidden = "true";
		const isTown = kind === "capitals" || kind === "towns";
		map.addOverlay(
			new Overlay({
				element,
				position: [point.xmin, point.ymin],
				positioning: isTown ? "center-left" : "center-center",
				stopEvent: false,
			}),
		);
		return [{ ...place, element }];
	});
	const view = map.getView();
	const write = () => {
		const resolution = view.getResolution() ?? 1;
		for (const { element, kind, name, short } of shown)
			element.textContent = resolution <= maxResolution[kind] ? name : short;
	};
	view.on("change:resolution", write);
	write();
}
