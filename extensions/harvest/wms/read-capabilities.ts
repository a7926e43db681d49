import { LRUCache } from "lru-cache";
import { withoutParameters } from "../../../registry/addresses.ts";
import { causeOf } from "../../../site/data/health.ts";
import { type Capabilities, listedNames, type OgcService } from "../../../site/service/capabilities.ts";
import { quote } from "../../../site/service/decode.ts";
import type { Parts } from "../../../site/service/gzip.ts";
import { NotCapabilities, readCapabilities } from "../../../site/service/read-capabilities.ts";
import { capabilitiesAddress } from "../../../site/service/requests.ts";
import { type Ask, orNull, orTrouble, Trouble } from "../ask.ts";
import type { Take } from "../net/fetch.ts";

/**
 * @param layers names of those that are needed: of a large document, little is kept of others
 * @throws {Trouble}
 */
export type ReadCapabilities = (
	service: OgcService,
	address: string,
	layers: readonly string[],
) => Promise<Capabilities>;

/**
 * For documents that are not asked for over HTTP; scripts outside the project read stored ones by it.
 * @returns a `Trouble` for an exception and for any other document
 */
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
const maxAgeMs = 600_000;
const maxFailureAgeMs = 60_000;

export function createReadCapabilities(ask: Ask): ReadCapabilities {
	const cached = new LRUCache<string, Promise<Capabilities>>({ max: maxCached, ttl: maxAgeMs });

	const askCapabilities: ReadCapabilities = async (service, address, layers) => {
		let result = null as Capabilities | Trouble | null;
		const take: Take = async (parts, type) => {
			result = await parseCapabilities(parts, type, service, layers);
		};
		const answer = await ask(address, { take });
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
		const isPart = whole instanceof Trouble ? whole.tooLarge : lacksLayers(whole, layers);
		// Some servers describe one layer alone; others send all again, of which this layer is kept.
		if (isPart && layer !== undefined)
			return read(service, capabilitiesAddress(service, address, { layer }), layers);
		if (whole instanceof Trouble) throw whole;
		return whole;
	};
}

/** Whether only a part of a large document was kept, without one of these layers. */
function lacksLayers({ layers, count }: Capabilities, names: readonly string[]) {
	return count > layers.size && names.some((name) => !listedNames(name).some((listed) => layers.has(listed)));
}

const refusals: ReadonlySet<number | null> = new Set([400, 404, 405, 501]);

/** A further address at which the document may be, or null. */
function otherAddress(service: OgcService, address: string, { what, status }: Trouble) {
	const isRefused = what.code === "exception" || refusals.has(status);
	if (service === "WMTS") return isRefused || what.code === "unlike" ? restfulAddress(address) : null;
	// Some servers of version 1.1.1 refuse 1.3.0 (06-042, section 6.2.4).
	return isRefused && status !== 404 ? capabilitiesAddress(service, address, { hasVersion: false }) : null;
}

/** The document of a WMTS at its base address (07-057r7, section 11.1); null if the address is that of a document. */
function restfulAddress(address: string) {
	const url = new URL(address);
	if (/\.xml$/i.test(url.pathname)) return null;
	url.pathname = `${url.pathname.replace(/\/(?:1\.0\.0\/?)?$/, "")}/1.0.0/WMTSCapabilities.xml`;
	return withoutParameters(url.href, true);
}
