/** Parameters that only select the form of an ArcGIS service's answer; every viewer sets its own. */
const formParameters: ReadonlySet<string> = new Set(["f", "callback", "_"]);

function isFormParameter(parameter: string): boolean {
	const [name = ""] = new URLSearchParams(parameter).keys();
	return formParameters.has(name.toLowerCase());
}

/** An ArcGIS service's address without what only selects the form of an answer, and without what is never sent. */
export function withoutForm(address: string): string {
	const [, path = "", query = ""] = /^([^?#]*)\??([^#]*)/.exec(address) ?? [];
	const kept = query.split("&").filter((parameter) => parameter !== "" && !isFormParameter(parameter));
	return kept.length > 0 ? `${path}?${kept.join("&")}` : path;
}

/** The name of an ArcGIS service in its address; empty if the address has none. */
export function serviceNameIn(address: string): string {
	const name = /\/([^/?#]+)\/(?:Map|Feature|Image)Server(?:[/?#]|$)/i.exec(address)?.[1] ?? "";
	try {
		return decodeURIComponent(name);
	} catch {
		return name;
	}
}

/** The end of a path of an ArcGIS service: of one layer, with its number, or of the whole service, without. */
export const arcgisPath = /\/(MapServer|FeatureServer)(?:\/(\d{1,9}))?\/?$/i;

/** The path of an operation of an ArcGIS service: the path of the service or layer, and the operation. */
const arcgisOperation =
	/^(.*\/(?:Map|Feature|Image)Server(?:\/\d{1,9})?)\/((?:query|export|generate)[a-z]*|identify|find|legend|layers|info)(?:\/|$)/i;

/** The address of the service or layer that an operation's address belongs to; null for any other address. */
export function operationOf({ origin, pathname }: URL): { address: string; operation: string } | null {
	const [, path, operation] = arcgisOperation.exec(pathname) ?? [];
	return path === undefined || operation === undefined ? null : { address: origin + path, operation };
}
