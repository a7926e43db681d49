import { type Described, maxEntries, undescribed } from "../described.ts";
import type { Ask } from "../net/ask.ts";
import type { OgcService } from "./capabilities.ts";
import { askCapabilities, capabilitiesAddress } from "./read-capabilities.ts";

/** Asks an OGC service for its capabilities: every layer that has a name, in the order of the document. Never throws. */
export async function describeOgcService(
	service: OgcService,
	address: string,
	ask: Ask,
	signal?: AbortSignal,
): Promise<Described> {
	const outcome = await askCapabilities(service, capabilitiesAddress(service, address, null), ask, signal);
	if (!outcome.capabilities) return undescribed(outcome.kind, outcome.text);
	const entries = [...outcome.capabilities.layers.keys()];
	if (entries.length === 0) return undescribed("registration", "has no layer that has a name");
	if (entries.length > maxEntries) {
		return undescribed("registration", `has more than ${maxEntries} layers: name those that are wanted`);
	}
	return { description: { service_url: address, entries }, missing: null };
}
