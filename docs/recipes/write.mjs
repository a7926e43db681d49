import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Accepts one layer of an ArcGIS MapServer or FeatureServer. */
const arcgisLayer = /\/(?:Map|Feature)Server\/\d+\/?$/i;

/** Parameters of a request, which are no part of the address of a service. */
const ofRequest = /^(?:service|version|request|layers|styles|format|legend_format|feature_info_type|f)$/i;

/**
 * The members of a registration for one language, from the link of a catalogue.
 * @param link its address, the name of the layer in a WMS (else taken from `layers` in the address), and its title
 * @returns null if the link names no single layer of a WMS or of ArcGIS
 */
export function memberOf({ url, name, title }, metadata) {
	if (!URL.canParse(url)) return null;
	const address = new URL(url);
	const named = [...address.searchParams].find(([key]) => /^layers$/i.test(key))?.[1];
	for (const key of [...address.searchParams.keys()])
		if (ofRequest.test(key)) address.searchParams.delete(key);
	const service_url = address.href.replace(/\?$/, "");
	const common = { service_url, ...(title && { service_name: title }), metadata };
	if (arcgisLayer.test(address.pathname)) return { payload_type: "feature", member: common };
	const layer = name || named;
	return layer ? { payload_type: "wms", member: { ...common, layer } } : null;
}

/** Writes a registration into the folder, or says why there is none. */
export async function writeLayer(folder, smallkey, en, fr) {
	const reason =
		!en || !fr ? "names no single layer" : en.payload_type === fr.payload_type ? "" : "has two kinds";
	if (reason) return void console.error(`left out: ${smallkey}: ${reason}`);
	const registration = { version: "1.0.0", payload_type: en.payload_type, en: en.member, fr: fr.member };
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, `${smallkey}.json`), `${JSON.stringify(registration, null, 2)}\n`);
	console.log(smallkey);
}
