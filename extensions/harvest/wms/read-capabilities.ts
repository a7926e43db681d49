import { aborted } from "node:util";
import { LRUCache } from "lru-cache";
import { plainKeywords } from "../../../registry/description.ts";
import { causeOf } from "../../../registry/health.ts";
import { maxAbstract, maxTitle } from "../../../registry/schemas/description.ts";
import type { Lang } from "../../../registry/smallkey.ts";
import { plainText } from "../../../registry/untrusted-text.ts";
import { unionOf } from "../../../site/service/boxes.ts";
import {
	boxOf,
	type Capabilities,
	type CapabilitiesLayer,
	findLayer,
	listedNames,
	type OgcService,
	textFor,
} from "../../../site/service/capabilities.ts";
import type { Parts } from "../../../site/service/decode.ts";
import { type Bounds, degreesOf } from "../../../site/service/projections.ts";
import { NotCapabilities, readCapabilities } from "../../../site/service/read-capabilities.ts";
import { capabilitiesAddress } from "../../../site/service/requests.ts";
import { type Ask, Trouble } from "../ask.ts";
import { checkEntries, type Described, orNull, orTrouble, quote } from "../finding.ts";
import { keywordsFor, scalesOf } from "./layers.ts";
import { restfulAddress } from "./requests.ts";

/**
 * @param layers names of those that are needed: of a large document, little is kept of others
 * @throws {Trouble}
 */
export type ReadCapabilities = (
	service: OgcService,
	address: string,
	layers: readonly string[],
) => Promise<Capabilities>;

export interface Clients {
	ask: Ask;
	read: ReadCapabilities;
	/** Of the viewers' map (`MAP_WKID`). */
	mapWkid: number;
}

export function createClients(ask: Ask, mapWkid: number): Clients {
	return { ask, mapWkid, read: createReadCapabilities(ask) };
}

/** Requests end with the signal. Capabilities are shared: only the wait for them ends. */
export function within({ ask, read, mapWkid }: Clients, signal: AbortSignal): Clients {
	return {
		mapWkid,
		ask: (address) => ask(address, signal),
		async read(...request) {
			const reading = read(...request);
			const late = aborted(signal, reading).then(() => {
				throw new Trouble("down", causeOf("unfinished"));
			});
			return Promise.race([reading, late]);
		},
	};
}

/** @returns a `Trouble` for an exception and for any other document */
export function parseCapabilities(
	document: Uint8Array | Parts,
	contentType: string,
	service: OgcService,
	layers: readonly string[] = [],
): Promise<Capabilities | Trouble> {
	const parts = document instanceof Uint8Array ? [document] : document;
	return readCapabilities(service, parts, contentType, layers).catch((error: unknown) => {
		if (!(error instanceof NotCapabilities)) throw error;
		const { code, words } = error;
		if (code === "unlike") return new Trouble("wrong", causeOf(code, service));
		return new Trouble("down", code === "cut" ? causeOf(code) : causeOf(code, quote(words)));
	});
}

const maxCached = 16;

/** A process that runs for days must read changes. */
const maxAgeMs = 600_000;

/** A layer is harvested again after a minute. */
const maxFailureAgeMs = 60_000;

export function createReadCapabilities(ask: Ask): ReadCapabilities {
	const cached = new LRUCache<string, Promise<Capabilities>>({ max: maxCached, ttl: maxAgeMs });

	const askCapabilities: ReadCapabilities = async (service, address, layers) => {
		let result = null as Capabilities | Trouble | null;
		const answer = await ask(address, undefined, async (parts, type) => {
			result = await parseCapabilities(parts, type, service, layers);
		});
		if (!answer.ok) throw answer;
		result ??= await parseCapabilities(answer.bytes, answer.type, service, layers);
		if (result instanceof Trouble) throw result;
		return result;
	};

	const read: ReadCapabilities = (service, address, layers) => {
		const name = `${service} ${address}`;
		const cachedAnswer = cached.get(name);
		if (cachedAnswer) return cachedAnswer;
		const answer = askCapabilities(service, address, layers);
		cached.set(name, answer);
		answer.catch(() => cached.set(name, answer, { ttl: maxFailureAgeMs }));
		return answer;
	};

	return async (service, address, layers) => {
		const first = await orTrouble(read(service, capabilitiesAddress(service, address), layers));
		const other = first instanceof Trouble && otherAddress(service, address, first);
		const whole = (other && (await orNull(read(service, other, layers)))) || first;
		const [layer] = layers;
		const isPart = whole instanceof Trouble ? whole.tooLarge : lacks(whole, layers);
		// Some servers describe one layer alone; others send all again, of which this layer is kept.
		if (isPart && layer !== undefined)
			return read(service, capabilitiesAddress(service, address, { layer }), layers);
		if (whole instanceof Trouble) throw whole;
		return whole;
	};
}

/** Whether only a part of a large document was kept, without a needed layer. */
function lacks({ layers, count }: Capabilities, names: readonly string[]): boolean {
	return count > layers.size && names.some((name) => !listedNames(name).some((listed) => layers.has(listed)));
}

const refusals: ReadonlySet<number | null> = new Set([400, 404, 405, 501]);

/** Null for no other place. */
function otherAddress(service: OgcService, address: string, { what, status }: Trouble): string | null {
	const isRefused = what.code === "exception" || refusals.has(status);
	if (service === "WMTS") return isRefused || what.code === "unlike" ? restfulAddress(address) : null;
	// Some servers of version 1.1.1 refuse version 1.3.0, in place of answering with their own (06-042, section 6.2.4).
	return isRefused && status !== 404 ? capabilitiesAddress(service, address, { hasVersion: false }) : null;
}

/**
 * Without names it describes the whole service.
 * @throws {Trouble}
 */
export async function describeLayers(
	service: OgcService,
	address: string,
	names: readonly string[],
	read: ReadCapabilities,
	lang: Lang = "en",
): Promise<Described> {
	const [first] = names;
	const capabilities = await read(service, address, names);
	const { layers, others, root, count } = capabilities;
	if (first === undefined) {
		const entries = [...layers.keys(), ...others.keys()];
		checkEntries(entries);
		const { min_scale, max_scale, ...about } = aboutLayers(root ? [root] : [], capabilities, lang);
		return { description: { service_url: address, entries, ...about }, missing: null };
	}
	const matching = names.flatMap((name) => findLayer(capabilities, name)?.layer ?? []);
	if (matching.length === 0) throw new Trouble("wrong", causeOf("no-layer", quote(first), count));
	const about = aboutLayers(matching, capabilities, lang);
	return { description: { service_url: address, layers: [...names], ...about }, missing: null };
}

/** Title and abstract of several layers are the root layer's. */
function aboutLayers(layers: readonly CapabilitiesLayer[], capabilities: Capabilities, lang: Lang) {
	const source = layers.length === 1 ? layers[0] : capabilities.root;
	const title = plainText(source ? textFor(source.title, lang) : "", maxTitle);
	const abstract = plainText(source ? textFor(source.abstract, lang) : "", maxAbstract);
	const keywords = plainKeywords(layers.flatMap((layer) => keywordsFor(layer, lang)));
	const boxes = layers.map((layer) => boxOf(layer, capabilities)).filter((box) => box !== null);
	const box = boxes.length === layers.length && boxes.reduce<Bounds | null>(unionOf, null);
	const bounds = box && degreesOf(...box);
	const { smallest = 0, largest = 0 } = (layers.length === 1 && source && scalesOf(source)) || {};
	return {
		...(title && { title }),
		...(abstract && { abstract }),
		...(keywords.length > 0 && { keywords }),
		...(bounds && { bounds: [...bounds] }),
		...(smallest > 0 && { min_scale: smallest }),
		...(largest > 0 && { max_scale: largest }),
	};
}
