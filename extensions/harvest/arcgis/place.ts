import { arcgisPath } from "../../../registry/addresses.ts";

/** Accept addresses of an ArcGIS service, and of its WMS. */
const arcgisService =
	/^(.*\/rest\/services)\/(?:(.+)\/)?([^/]+)\/(MapServer|FeatureServer|ImageServer)(\/\d+)?\/?$/i;
const arcgisWms = /^(.*)\/services\/(?:(.+)\/)?([^/]+)\/(MapServer|ImageServer)\/WMSServer\/?(?:\?.*)?$/i;

/** Null for other addresses. `catalogue`: the address of the server's list. */
export function arcgisPlaceOf(address: string) {
	const service = arcgisService.exec(address);
	const [, root, ...parts] = service ?? arcgisWms.exec(address) ?? [];
	if (root === undefined) return null;
	const [folder = "", name = "", type = "", layer = ""] = parts.map((part = "") => decode(part));
	return {
		folder,
		name,
		type,
		catalogue: service ? root : `${root}/rest/services`,
		/** Of another service on the server, with the same number of the layer. */
		addressOf: (path: string, catalogue: string) =>
			service
				? `${catalogue}/${encodeURI(path)}${layer}`
				: `${catalogue.replace("/rest/", "/")}/${encodeURI(path)}/WMSServer`,
	};
}

function decode(text: string): string {
	try {
		return decodeURI(text);
	} catch {
		return text;
	}
}

export function numberIn(address: string): string {
	return arcgisPath.exec(new URL(address).pathname)?.[2] ?? "";
}
