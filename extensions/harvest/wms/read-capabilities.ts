import { aborted } from "node:util";
import { createEmpty, extend } from "ol/extent.js";
import type { Ask } from "../../../api/service/net/ask.ts";
import { Trouble } from "../../../api/service/net/trouble.ts";
import { causeOf } from "../../../registry/causes.ts";
import { type NamedDescription, plainKeywords } from "../../../registry/description.ts";
import { plainText } from "../../../registry/markup.ts";
import { degreesOf } from "../../../registry/projections.ts";
import { maxAbstract, maxTitle } from "../../../registry/schemas/description.ts";
import type { Bounds } from "../../../site/data/entries.ts";
import { checkEntries, type Described, orTrouble, quote } from "../finding.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	type OgcService,
	parseCapabilities,
	scalesOf,
} from "./capabilities.ts";

/**
 * Reads the capabilities of a service. Answers are cached for the layers that follow.
 * @param layer the layer to ask for alone if the whole document is too large; null: the whole document only
 * @throws {Trouble}
 */
export type ReadCapabilities = (
	service: OgcService,
	address: string,
	layer: string | null,
) => Promise<Capabilities>;

/** The clients for services, which all layers share. */
export interface Clients {
	ask: Ask;
	read: ReadCapabilities;
	/** Well-known id of the spatial reference of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

/** The same clients, whose requests end when a signal aborts. Capabilities are shared: only the wait for them ends. */
export function within<C extends Pick<Clients, "ask" | "read">>(
	clients: C,
	signal: AbortSignal | undefined,
): C {
	if (!signal) return clients;
	const { ask, read } = clients;
	return {
		...clients,
		ask: (address) => ask(address, signal),
		read: (...wanted) => untilAborted(read(...wanted), signal),
	};
}

/** Waits for a task, or until a signal aborts. @throws {Trouble} if it aborts first */
function untilAborted<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
	const late = aborted(signal, task).then(() => {
		throw new Trouble("down", causeOf("unfinished"));
	});
	return Promise.race([task, late]);
}

/** Services whose capabilities are cached at the same time. */
const maxCached = 16;

/** Time for which capabilities are cached, in milliseconds: a process that runs for days must read changes. */
const maxAgeMs = 600_000;

/** Time for which a failure is cached: a layer is harvested again after a minute. */
const maxFailureAgeMs = 60_000;

/** Creates the reader of capabilities that several layers share. @param now clock, in milliseconds since 1970 */
export function createReadCapabilities(ask: Ask, now: () => number = Date.now): ReadCapabilities {
	const cached = new Map<string, { untilMs: number; answer: Promise<Capabilities> }>();

	async function askCapabilities(service: OgcService, address: string): Promise<Capabilities> {
		const answer = await ask(address);
		if (!answer.ok) throw answer;
		return parseCapabilities(answer.bytes, answer.type, service);
	}

	function read(service: OgcService, address: string): Promise<Capabilities> {
		const name = `${service} ${address}`;
		let entry = cached.get(name);
		if (!entry || now() >= entry.untilMs) {
			const made = { untilMs: now() + maxAgeMs, answer: askCapabilities(service, address) };
			const sinceMs = now();
			made.answer.catch(() => {
				made.untilMs = sinceMs + maxFailureAgeMs;
			});
			entry = made;
		}
		// Deleted and set again, so that the first entry of the map is the least recently used one.
		cached.delete(name);
		cached.set(name, entry);
		const [oldest] = cached.keys();
		if (cached.size > maxCached && oldest !== undefined) cached.delete(oldest);
		return entry.answer;
	}

	return async (service, address, layer) => {
		const found = await orTrouble(read(service, capabilitiesAddress(service, address, null)));
		if (!(found instanceof Trouble)) return found;
		if (!found.tooLarge || layer === null) throw found;
		// With the parameter `layer`, GeoMet and others describe one layer only; other servers ignore it.
		return read(service, capabilitiesAddress(service, address, layer));
	};
}

const versions: Record<OgcService, string> = { WMS: "1.3.0", WMTS: "1.0.0" };

/**
 * The address of a service's capabilities. A WMTS may be registered with the address of the document itself (07-057r7,
 * section 10), which stays as it is.
 * @param layer the only layer that is asked for; null: all layers
 */
function capabilitiesAddress(service: OgcService, address: string, layer: string | null): string {
	if (service === "WMTS" && /\.xml$/i.test(new URL(address).pathname)) return address;
	const query: Record<string, string> = { service, request: "GetCapabilities", version: versions[service] };
	if (layer !== null) query.layer = layer;
	return withParameters(address, query);
}

/** Sets a request's parameters in an address, in place of its own; case of names is ignored (06-042, section 6.8.1). */
export function withParameters(address: string, query: Record<string, string>): string {
	const url = new URL(address);
	for (const name of [...url.searchParams.keys()]) {
		if (name.toLowerCase() in query) url.searchParams.delete(name);
	}
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name.toUpperCase(), text);
	url.hash = "";
	return url.href;
}

/**
 * Describes the named layers of an OGC service from its capabilities. Without names it describes the whole service, with
 * all layers that have a name, in the order of the document.
 * @throws {Trouble}
 */
export async function describeLayers(
	service: OgcService,
	address: string,
	names: readonly string[],
	read: ReadCapabilities,
): Promise<Described> {
	const [first] = names;
	const { layers, root } = await read(service, address, first ?? null);
	if (first === undefined) {
		const entries = [...layers.keys()];
		checkEntries(entries);
		const about = aboutLayers(root ? [root] : [], root);
		return { description: { service_url: address, entries, ...about }, missing: null };
	}
	const found = names.flatMap((name) => layers.get(name) ?? []);
	if (found.length === 0) {
		throw new Trouble("wrong", causeOf("no-layer", quote(first), layers.size));
	}
	const about = aboutLayers(found, root);
	return { description: { service_url: address, layers: [...names], ...about }, missing: null };
}

/** Title, abstract, keywords and bounds of one layer; for several, title and abstract are the root layer's. */
function aboutLayers(
	layers: readonly CapabilitiesLayer[],
	root: CapabilitiesLayer | null,
): Omit<NamedDescription, "service_url" | "from" | "layers"> {
	const source = layers.length === 1 ? layers[0] : root;
	const title = plainText(source?.title ?? "", maxTitle);
	const abstract = plainText(source?.abstract ?? "", maxAbstract);
	const keywords = plainKeywords(layers.flatMap((layer) => layer.keywords));
	const bounds = boundsOf(layers.map(boxOf));
	const [min_scale = 0, max_scale = 0] = (layers.length === 1 && source && scalesOf(source)) || [];
	return {
		...(title ? { title } : {}),
		...(abstract ? { abstract } : {}),
		...(keywords.length > 0 ? { keywords } : {}),
		...(bounds ? { bounds: [...bounds] } : {}),
		...(min_scale > 0 ? { min_scale } : {}),
		...(max_scale > 0 ? { max_scale } : {}),
	};
}

/** The bounds of all boxes; null if one of them is not known. */
function boundsOf(boxes: readonly (Bounds | null)[]): Bounds | null {
	const all = createEmpty();
	for (const box of boxes) {
		if (!box) return null;
		extend(all, [...box]);
	}
	return degreesOf(...(all as [number, number, number, number]));
}
