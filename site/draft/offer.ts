import { ask, askJson, ServiceFailed } from "../map/ask.ts";

/** A layer that a service has. */
export interface OfferedLayer {
	/** Its name, or its number in an ArcGIS service. */
	name: string;
	title: string;
}

/** Layers that are offered at most. */
const maxOffered = 500;

/** `…/MapServer` or `…/FeatureServer`, with or without the number of a layer. */
const arcgisService = /^([^?#]*\/(?:Map|Feature)Server)(?:\/\d*)?\/?(?:[?#].*)?$/i;

/** The address of an ArcGIS service without a layer's number; null where it is none. */
export function arcgisServiceOf(address: string): string | null {
	return arcgisService.exec(address)?.[1] ?? null;
}

/** The layers of a service, in its own order. @throws {ServiceFailed} */
export async function layersOf(
	kind: "wms" | "feature",
	address: string,
	signal: AbortSignal,
): Promise<OfferedLayer[]> {
	const layers = kind === "wms" ? await namedLayers(address, signal) : await numberedLayers(address, signal);
	return layers.slice(0, maxOffered);
}

async function namedLayers(address: string, signal: AbortSignal): Promise<OfferedLayer[]> {
	const url = addressOf(address);
	for (const name of [...url.searchParams.keys()])
		if (/^(?:service|request)$/i.test(name)) url.searchParams.delete(name);
	url.searchParams.set("SERVICE", "WMS");
	url.searchParams.set("REQUEST", "GetCapabilities");
	const { text } = await ask(url.href, signal);
	const document = new DOMParser().parseFromString(text, "text/xml");
	const child = (element: Element, name: string) =>
		[...element.children].find(({ localName }) => localName === name)?.textContent?.trim() ?? "";
	const layers = [...document.getElementsByTagNameNS("*", "Layer")].flatMap((element) => {
		const name = child(element, "Name");
		return name === "" ? [] : [{ name, title: child(element, "Title") }];
	});
	if (layers.length === 0) throw new ServiceFailed({ kind: "odd", host: url.host });
	return layers;
}

async function numberedLayers(address: string, signal: AbortSignal): Promise<OfferedLayer[]> {
	const url = addressOf(`${arcgisServiceOf(address) ?? address}?f=json`);
	const { layers } = await askJson(url.href, signal);
	if (!Array.isArray(layers)) throw new ServiceFailed({ kind: "odd", host: url.host });
	return layers.map(({ id, name }) => ({ name: String(id), title: String(name) }));
}

function addressOf(text: string): URL {
	try {
		return new URL(text);
	} catch {
		throw new ServiceFailed({ kind: "address", address: text });
	}
}
