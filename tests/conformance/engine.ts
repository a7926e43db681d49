import { wmsImage } from "../../registry/generic.ts";
import { manual } from "../helpers/local.ts";

export interface Engine {
	origin: string;
	docsMaxKeys: number;
	/** Whether a registration can be read at the moment of its 201. */
	published: boolean;
	/** Something that changes with each commit: what was refused has to leave it as it is. */
	state(): Promise<string>;
	stop(): Promise<void>;
}

export interface Candidate {
	/** As in the known differences of docs/hosting.md. */
	name: "Node" | "Workers" | "Workers with R2" | "nginx";
	/** null where it can be started. */
	missing: string | null;
	start(layers: ReadonlyMap<string, string>): Promise<Engine>;
}

export const senders = {
	jstest: "test_-k",
	narrow: { key: "narrow secret, it's", smallkeys: ["ab*", "x?"] },
};

/** Line and paragraph separators: ends of line in a script before ES2019. */
const separators = "a\u2028b\u2029c";

const featureServer = {
	service_type: "esriFeatureServer",
	service_url: "https://host.example/FeatureServer",
};

export const layers: ReadonlyMap<string, string> = new Map([
	["23ax5t", manual],
	["a+b=c", wms("plus")],
	["+", wms("sign")],
	["__proto__", wms("proto")],
	["constructor", wms("constructor")],
	["-", wms("dash")],
	["Z", wms(separators)],
	["x".repeat(64), wms("long")],
	["feature", featurePayload()],
	["many", version2({ service_type: "ogcWms", scrape_only: ["b", "a"] })],
	["server", version2({ service_type: "esriMapServer", scrape_only: [5, 0] })],
	["tiles", version2({ service_type: "esriTile", service_name: "Tiles" })],
	["wmts", version2({ service_type: "ogcWmts", scrape_only: ["t"] })],
	["one", version2({ ...featureServer, scrape_only: [3] })],
	["several", version2({ ...featureServer, scrape_only: [3, 4] })],
	["whole", version2({ service_type: "ogcWms", recursive: true })],
]);

export const plainKeys: readonly string[] = [...layers.keys()].slice(0, -7);

function version2(node: object): string {
	const whole = { service_url: "https://host.example/MapServer", ...node };
	return JSON.stringify({ version: "2.0", en: whole, fr: whole });
}

export function wms(name: string): string {
	return manual.replaceAll('"limits"', JSON.stringify(name));
}

export function featurePayload(): string {
	const entry = '{"service_url":"https://host.example/MapServer/1","service_name":"Wells"}';
	return `{"version":"1.0.0","payload_type":"feature","en":${entry},"fr":${entry}}`;
}

/** The fragment of the manual's payload with another layer's name (facts of the viewer's own schema: a wms node). */
export function wmsFragment(smallkey: string, lang: string, name: string): object {
	const url = "http://wms.ess-ws.nrcan.gc.ca/wms/toporama_en";
	const id = `rcs.${smallkey}.${lang}`;
	const node = { id, displayName: name, url, imageUrl: wmsImage, layerName: name, format: "image/png" };
	return { layers: { wms: [node] } };
}
