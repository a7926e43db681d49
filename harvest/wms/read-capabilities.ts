import { orTrouble, quote, Trouble } from "../finding.ts";
import type { Ask } from "../net/ask.ts";
import { type Capabilities, type OgcService, parseCapabilities } from "./capabilities.ts";

/**
 * Reads the capabilities of a service; an answer is kept for the layers that follow.
 * @param layer asked for alone where the whole is too large; null: the whole only
 * @param signal ends the wait, not the request, which others may wait for too
 * @throws {Trouble}
 */
export type ReadCapabilities = (
	service: OgcService,
	address: string,
	layer: string | null,
	signal?: AbortSignal,
) => Promise<Capabilities>;

/** Most services whose capabilities are kept at a time. */
const maxKept = 16;

/** How long capabilities are kept, in milliseconds: a process that runs for days has to see what changes. */
const maxAgeMs = 600_000;

/** Makes the reader of capabilities that all layers asked for together share. @param now milliseconds since 1970 */
export function createReadCapabilities(ask: Ask, now: () => number = Date.now): ReadCapabilities {
	const kept = new Map<string, { since: number; outcome: Promise<Capabilities | Trouble> }>();

	async function read(service: OgcService, address: string, signal?: AbortSignal) {
		const name = `${service} ${address}`;
		const before = kept.get(name);
		const isFresh = before && now() - before.since < maxAgeMs;
		const outcome = isFresh ? before.outcome : orTrouble(askCapabilities(service, address, ask));
		// Set again, so that the first one is the one that was used longest ago.
		kept.delete(name);
		kept.set(name, { since: isFresh ? before.since : now(), outcome });
		const [oldest] = kept.keys();
		if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
		return untilAborted(outcome, signal);
	}

	return async (service, address, layer, signal) => {
		let found = await read(service, capabilitiesAddress(service, address, null), signal);
		// GeoMet and others describe one layer alone with this parameter; the rest ignore it.
		if (found instanceof Trouble && found.tooLarge && layer !== null)
			found = await read(service, capabilitiesAddress(service, address, layer), signal);
		if (found instanceof Trouble) throw found;
		return found;
	};
}

/** What a shared request comes to, as long as the signal has not aborted. */
function untilAborted<T>(outcome: Promise<T>, signal?: AbortSignal): Promise<T | Trouble> {
	if (!signal) return outcome;
	const aborted = new Trouble("server", "was not asked to the end");
	if (signal.aborted) return Promise.resolve(aborted);
	return new Promise((resolve, reject) => {
		const end = () => resolve(aborted);
		signal.addEventListener("abort", end, { once: true });
		const clear = () => signal.removeEventListener("abort", end);
		outcome.finally(clear).then(resolve, reject);
	});
}

const versions: Record<OgcService, string> = { WMS: "1.3.0", WMTS: "1.0.0" };

/**
 * Where a service's capabilities are. A WMTS may be registered by the address of the document itself (07-057r7, section 10), which is left alone.
 * @param layer the one layer that is asked for; null: all of them
 */
function capabilitiesAddress(service: OgcService, address: string, layer: string | null): string {
	if (service === "WMTS" && /\.xml$/i.test(new URL(address).pathname)) return address;
	const query: Record<string, string> = { service, request: "GetCapabilities", version: versions[service] };
	if (layer !== null) query.layer = layer;
	return withParameters(address, query);
}

/** An address with the parameters of a request, whose names have no case (06-042, section 6.8.1); they replace its own. */
export function withParameters(address: string, query: Record<string, string>): string {
	const url = new URL(address);
	for (const name of [...url.searchParams.keys()]) {
		if (name.toLowerCase() in query) url.searchParams.delete(name);
	}
	for (const [name, text] of Object.entries(query)) url.searchParams.set(name.toUpperCase(), text);
	url.hash = "";
	return url.href;
}

/** Asks for a capabilities document. @param address as `capabilitiesAddress` makes it @throws {Trouble} */
async function askCapabilities(service: OgcService, address: string, ask: Ask): Promise<Capabilities> {
	const answer = await ask(address);
	if (!answer.ok) throw new Trouble(answer.kind, answer.text, { tooLarge: answer.tooLarge });
	const parsed = parseCapabilities(answer.bytes, answer.type, service);
	if (parsed.capabilities) return parsed.capabilities;
	if (parsed.exception === null) throw new Trouble("registration", `does not answer as a ${service} does`);
	throw new Trouble("server", `answers with an exception: ${quote(parsed.exception)}`);
}
