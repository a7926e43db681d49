import type { LangPart1, Registration } from "../../../registry/registration.ts";
import {
	arcgis,
	type Host,
	stationFields,
	type WmsLayer,
	type World,
	type WorldLayer,
	wms,
} from "./world.ts";

/** The outcome of a search: nothing, or one proposal with the members that it changes. */
export type Expected =
	| "nothing"
	| { sure: "same" | "perhaps"; en?: Record<string, string>; fr?: Record<string, string> };

export interface Move {
	name: string;
	registered: Registration;
	before: World;
	after: World;
	expected: Expected;
	isUnknown?: true;
	maxRequests?: number;
	others?: Registration[];
	/** Whether the layer is well, so that it is never looked for. */
	isWell?: true;
}

type Place = World | Host;
type More = Partial<Omit<Move, "name" | "before" | "after">> & { before?: Place };

export const maps = "http://maps.example.ca";
export const secure = "https://maps.example.ca";
export const other = "https://geo.example.org";
export const rest = "/arcgis/rest/services";
export const services = `${maps}${rest}`;
export const ows = `${maps}/ows`;

/** A host alone is the one of the registered address. */
const worldOf = (place: Place): World => (typeof place === "function" ? { [maps]: place } : place);

/** By name: where the services are afterwards, what is expected, and what differs from other moves. */
export function movesOf(
	common: { registered: Registration; before: Place },
	moves: Record<string, [after: Place, expected?: Expected, more?: More]>,
): Move[] {
	return Object.entries(moves).map(([name, [after, expected = "nothing", more]]) => {
		const all = { ...common, ...more };
		return { name, expected, ...all, before: worldOf(all.before), after: worldOf(after) };
	});
}

/** The member that a place changes: an address, one of the ArcGIS server (`Air/MapServer/5`), or a name in a WMS. */
function memberOf(place: string): Record<string, string> {
	if (/^https?:/.test(place)) return { service_url: place };
	return /Server\b/.test(place) ? { service_url: `${services}/${place}` } : { layer: place };
}

/** One proposal. @param fr that for French, if it differs; null: French does not change */
const proposed =
	(sure: "same" | "perhaps") =>
	(en: string | null, fr: string | null = en): Expected => ({
		sure,
		...(en !== null && { en: memberOf(en) }),
		...(fr !== null && { fr: memberOf(fr) }),
	});
export const same = proposed("same");
export const perhaps = proposed("perhaps");

export function featureAt(en: string, fr = en): Registration {
	const [english, french] = [en, fr].map(memberOf) as unknown as [LangPart1, LangPart1];
	return { version: "1.0.0", payload_type: "feature", en: english, fr: french };
}

export function wmsAt(service_url: string, en: string, fr = en): Registration {
	const [english, french] = [en, fr].map((layer) => ({ service_url, layer })) as [LangPart1, LangPart1];
	return { version: "1.0.0", payload_type: "wms", en: english, fr: french };
}

export const stations: WorldLayer = { id: 3, name: "Stations" };
const kinds: Record<string, WorldLayer> = {
	stations,
	lakes: { id: 0, name: "Lakes", geometry: "esriGeometryPolygon", fields: ["OBJECTID", "LAKE", "DEPTH"] },
	roads: { id: 5, name: "Roads", fields: ["OBJECTID", "ROAD", "LANES"], colour: 90 },
};
const wmsKinds: Record<string, WmsLayer> = {
	rivers: {
		name: "rivers",
		title: "Rivers of Canada",
		box: [-141, 41, -52, 84],
		abstract: "All rivers that are longer than ten kilometres.",
	},
	woods: { name: "woods", title: "Woods", abstract: "Where trees stand." },
	plain: { name: "plain", title: "" },
	fires: { name: "fires", title: "", abstract: "Where a fire burnt more than ten hectares of forest." },
};

const numbers = new Set(["colour", "features", "scale"]);

function memberValue(name: string, text: string) {
	if (name === "extent") return text.split(" ").map(Number);
	if (name === "fields") return text.replace("ALL", stationFields.join(" ")).split(" ");
	return numbers.has(name) ? Number(text) : text;
}

/** `colour=10;name=Measuring stations` */
function membersOf(text: string | undefined) {
	const members = text ? text.split(";").map((member) => member.split("=") as [string, string]) : [];
	return Object.fromEntries(members.map(([name, value]) => [name, memberValue(name, value)]));
}

function kindOf<T>(all: Record<string, T>, kind: string, word: string) {
	const layer = all[kind];
	if (!layer) throw new Error(`no such layer: ${word}`);
	return layer;
}

/** Layers in words: `lakes, stations#5(colour=10)` */
function layersIn(text = "") {
	const all = text === "" ? [] : text.split(", ");
	return all.map((word) => {
		const [, kind = "", id, members] = /^(\w+)(?:#(\d+))?(?:\((.*)\))?$/.exec(word) ?? [];
		return { ...kindOf(kinds, kind, word), ...(id && { id: Number(id) }), ...membersOf(members) };
	});
}

/** An ArcGIS server in words: `Water/Hydro: lakes, stations#5 | Air/FeatureServer: stations` */
export function A(text: string, root?: string): Host {
	const parts = text.split(" | ").map((part) => part.split(": "));
	const named = parts.map(([name = "", layers]) => [
		/server$/i.test(name) ? name : `${name}/MapServer`,
		layersIn(layers),
	]);
	return arcgis(Object.fromEntries(named), root);
}

/** A WMS in words: `/ows: rivers@hydro:rivers(title=Watercourses), woods` */
export function W(text: string): Host {
	const [path = "", ...layers] = text.split(": ");
	const all = layers.join(": ").split(", ");
	return wms(
		path,
		all.map((word) => {
			const [, kind = "", name, members] = /^(\w+)(?:@([\w:]+))?(?:\((.*)\))?$/.exec(word) ?? [];
			return { ...kindOf(wmsKinds, kind, word), ...(name && { name }), ...membersOf(members) };
		}),
	);
}

const smallkeys = ["five1", "five2", "five3", "five4", "five5"];

/** A service with five layers of the registry that moves as a whole. */
export const together = {
	smallkeys,
	registrations: smallkeys.map((key, at) => [key, featureAt(`${services}/Five/MapServer/${at}`)] as const),
	layers: Array.from({ length: 5 }, (_, at): WorldLayer => {
		return { id: at, name: `Stations ${at}`, fields: [...stationFields, `F${at}`] };
	}),
	from: `${services}/Five/MapServer`,
	to: `${services}/Moved/Five/MapServer`,
	before: (layers: readonly WorldLayer[]): World => ({ [maps]: arcgis({ "Five/MapServer": layers }) }),
	after: (layers: readonly WorldLayer[]): World => ({ [maps]: arcgis({ "Moved/Five/MapServer": layers }) }),
};
