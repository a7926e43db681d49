import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalText, type Registration1 } from "../../registry/registration.ts";
import { layerPath } from "../../registry/smallkey.ts";

/** Creates a deterministic generator of numbers in [0, 1) (mulberry32). */
export function randomFrom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let t = Math.imul(state ^ (state >>> 15), 1 | state);
		t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}

const words = ["roads", "lakes", "parks", "air", "soil", "rivers", "census", "energy", "forest", "ice"];

/** A smallkey in one of the forms of real catalogues: six random letters and digits, a word with a number, a uuid. */
function smallkeyOf(index: number, random: () => number): string {
	const digits = (length: number, base: number) =>
		Array.from({ length }, () => Math.floor(random() * base).toString(base)).join("");
	if (index % 10 < 6) return `${digits(6, 36)}${index.toString(36)}`;
	if (index % 10 < 8) return `${words[Math.floor(random() * words.length)]}-${index}`;
	return digits(32, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

function registrationOf(smallkey: string, index: number): Registration1 {
	const place = smallkey.slice(0, 6);
	const wms = (lang: string) => ({
		service_url: `https://maps${index % 97}.example.ca/wms/${place}_${lang}`,
		layer: `layer_${index}`,
		service_name: lang === "en" ? `Layer ${index} of Canada` : `Couche ${index} du Canada, été`,
	});
	const feature = (lang: string) => ({
		service_url: `https://gis${index % 89}.example.ca/arcgis/rest/services/${place}_${lang}/MapServer/${index % 9}`,
		service_name: lang === "en" ? `Features ${index}` : `Entités ${index}`,
	});
	const payload_type = index % 10 < 7 ? "wms" : "feature";
	const entry = payload_type === "wms" ? wms : feature;
	return { version: "1.0.0", payload_type, en: entry("en"), fr: entry("fr") };
}

/** Generates `count` layers, the same each time: seven of ten are wms, the others feature. */
export function* generateLayers(count: number): Generator<{ smallkey: string; registration: Registration1 }> {
	const random = randomFrom(42);
	for (let index = 0; index < count; index += 1) {
		const smallkey = smallkeyOf(index, random);
		yield { smallkey, registration: registrationOf(smallkey, index) };
	}
}

/** The registration with another English name. */
export function renamed(registration: Registration1, service_name: string): Registration1 {
	return { ...registration, en: { ...registration.en, service_name } };
}

/** Writes `count` layers below `folder`, as `layers/<ab>/<smallkey>.json`. */
export function writeLayers(folder: string, count: number): void {
	for (const { smallkey, registration } of generateLayers(count)) {
		const path = join(folder, layerPath(smallkey));
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, canonicalText(registration));
	}
}
