import type { Registration } from "../api/registration.ts";
import type { Ask } from "./ask.ts";
import type { Finding } from "./finding.ts";

export type { Fault, Finding } from "./finding.ts";

/**
 * Asks the services behind one layer whether the registration is right: for wms GetCapabilities, for feature the
 * layer's own document, in both languages. It never throws: a service that fails is a finding of kind `server`.
 * @param ask made once, by `createAsk({ fetch })`, for all layers that are checked together
 * @returns no findings where all is well; in the order en, fr
 */
export async function checkLayer(
	_smallkey: string,
	_registration: Registration,
	_ask: Ask,
): Promise<Finding[]> {
	return [];
}
