import type { OgcService } from "./capabilities.ts";

/**
 * Replaces parameters of an address, whatever the case of their names (06-042, section 6.8.1). A space is
 * `%20`, since ArcGIS Server does not read `+` as one. An invalid address is returned as it is.
 */
export function withParameters(
	address: string,
	query: Readonly<Record<string, string>>,
	removed = /^$/,
): string {
	if (!URL.canParse(address)) return address;
	const url = new URL(address);
	const names = new Set(Object.keys(query).map((name) => name.toUpperCase()));
	for (const name of [...url.searchParams.keys()])
		if (names.has(name.toUpperCase()) || removed.test(name)) url.searchParams.delete(name);
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name.toUpperCase(), text);
	url.search = url.searchParams.toString().replaceAll("+", "%20");
	url.hash = "";
	return url.href;
}

const requestParameters = /^(?:service|request|version)$/i;

const versions: Readonly<Record<OgcService, string>> = { WMS: "1.3.0", WMTS: "1.0.0" };

/**
 * A WMTS may be registered with the address of the document itself (07-057r7, section 10), which stays as it
 * is.
 * @param layer the only layer of the request, for services that can describe one alone; absent: all layers
 */
export function capabilitiesAddress(
	service: OgcService,
	address: string,
	{ layer, hasVersion = true }: { layer?: string | undefined; hasVersion?: boolean } = {},
): string {
	if (!URL.canParse(address)) return address;
	if (service === "WMTS" && /\.xml$/i.test(new URL(address).pathname)) return address;
	const query = {
		service,
		request: "GetCapabilities",
		...(hasVersion && { version: versions[service] }),
		// GeoMet reads `layer`, and others read `layers`.
		...(layer !== undefined && { layer, layers: layer }),
	};
	return withParameters(address, query, hasVersion ? undefined : /^version$/i);
}

/** The document of a WMTS at its base address (07-057r7, section 11.1); null if the address is that of a document. */
export function restfulAddress(address: string): string | null {
	const url = new URL(address);
	if (/\.xml$/i.test(url.pathname)) return null;
	url.pathname = `${url.pathname.replace(/\/(?:1\.0\.0\/?)?$/, "")}/1.0.0/WMTSCapabilities.xml`;
	return withParameters(url.href, {}, requestParameters);
}

export function isSameService(address: string, other: string): boolean {
	const [a, b] = [address, other].map((text) => withParameters(text, {}, requestParameters));
	return a === b;
}
