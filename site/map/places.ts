import type OlMap from "ol/Map.js";
import Overlay from "ol/Overlay.js";
import { settings } from "../page/page.ts";
import { lang } from "../page/texts.ts";
import places from "./places.json";

interface Place {
	/** In metres, EPSG:3978. */
	at: [x: number, y: number];
	kind: keyof typeof places;
	name: string;
	/** The text at small scales; may be empty. */
	short: string;
}

/** Metres per pixel up to which names of a kind are shown in full. */
const maxResolution = { provinces: 5_500, waters: 12_000, capitals: 5_500, towns: 2_500 };

const inLang = (en: string, fr = en) => (lang === "fr" ? fr : en);

function allPlaces(): Place[] {
	const { provinces, ...others } = places;
	const kinds = Object.entries(others) as [keyof typeof others, [number, number, string, string?][]][];
	return [
		...(provinces as [string, number, number, string, string][]).map(([short, x, y, en, fr]) => {
			return { at: [x, y] as [number, number], kind: "provinces" as const, name: inLang(en, fr), short };
		}),
		...kinds.flatMap(([kind, rows]) =>
			rows.map(([x, y, en, fr]) => ({
				at: [x, y] as [number, number],
				kind,
				name: inLang(en, fr),
				short: "",
			})),
		),
	];
}

/** Converts points of EPSG:3978; only other maps load the code for it. */
async function projection(): Promise<(at: [number, number]) => number[] | null> {
	if (settings.mapWkid === 3978) return (at) => at;
	const { reproject } = await import("../../registry/projections.ts");
	return ([x, y]) => {
		const point = reproject({ wkid: 3978, xmin: x, ymin: y, xmax: x, ymax: y }, settings.mapWkid);
		return point && [point.xmin, point.ymin];
	};
}

export async function addPlaces(map: OlMap): Promise<void> {
	const onMap = await projection();
	const shown = allPlaces().flatMap((place) => {
		const { kind } = place;
		const position = onMap(place.at);
		if (!position) return [];
		const element = document.createElement("span");
		element.className = `placename ${kind}`;
		element.ariaHidden = "true";
		const isTown = kind === "capitals" || kind === "towns";
		map.addOverlay(
			new Overlay({
				element,
				position,
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
