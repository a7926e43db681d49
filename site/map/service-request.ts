import type OlMap from "ol/Map.js";
import Overlay from "ol/Overlay.js";
import { isBlockedOn } from "../../registry/addresses.ts";
import type { CauseCode } from "../../registry/health.ts";
import { webAddress } from "../page/dom.ts";
import { lang, settings } from "../page/page.ts";
import { readDocument } from "../service/arcgis.ts";
import { t } from "./map-texts.ts";
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
	const { reproject } = await import("../service/projections.ts");
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

export const timeoutMs = 10_000;

const maxErrorLength = 300;

/** Why a page cannot use a service; the text is `service-<code>`. */
type FailureCode = Extract<
	CauseCode,
	"unreachable" | "not-secure" | "protocol" | "no-map" | "slow" | "status" | "exception"
>;

export class ServiceFailed extends Error {
	constructor(
		address: string,
		readonly code: FailureCode,
		readonly detail: string | number = "",
	) {
		super(t(`service-${code}`, webAddress(address)?.host ?? address, detail));
	}
}

/** Why a page cannot send requests to an address; null if it can. */
export function blockedReason(address: string): ServiceFailed | null {
	const url = webAddress(address);
	if (!url) return new ServiceFailed(address, "protocol", address);
	return isBlockedOn(location.href, url.href) ? new ServiceFailed(address, "not-secure") : null;
}

/** Reads UTF-8. @throws {ServiceFailed} */
export async function ask(address: string, signal?: AbortSignal): Promise<string> {
	return new TextDecoder().decode((await askBytes(address, signal)).bytes);
}

export async function askBytes(
	address: string,
	signal?: AbortSignal,
): Promise<{ bytes: Uint8Array; type: string }> {
	const blocked = blockedReason(address);
	if (blocked) throw blocked;
	const timeout = AbortSignal.timeout(timeoutMs);
	try {
		const response = await fetch(address, {
			signal: AbortSignal.any(signal ? [signal, timeout] : [timeout]),
			credentials: "omit",
			referrerPolicy: "no-referrer",
		});
		const bytes = new Uint8Array(await response.arrayBuffer());
		if (!response.ok) throw new ServiceFailed(address, "status", response.status);
		return { bytes, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		if (error instanceof ServiceFailed || signal?.aborted) throw error;
		throw new ServiceFailed(address, timeout.aborted ? "slow" : "unreachable");
	}
}

/** Reads JSON from an ArcGIS service, which sends errors with status 200. @throws {ServiceFailed} */
export async function askJson(address: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
	const { bytes } = await askBytes(address, signal);
	const { document, error } = readDocument(bytes, Number.POSITIVE_INFINITY);
	if (document) return document;
	if (!error) throw new ServiceFailed(address, "no-map");
	throw new ServiceFailed(address, "exception", oneLine(error.words || error.status || "error"));
}

export function oneLine(text: unknown): string {
	const line = String(text).replace(/\s+/g, " ").trim();
	return line.length > maxErrorLength ? `${line.slice(0, maxErrorLength)}…` : line;
}
