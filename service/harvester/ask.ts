import { type Ask, createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import type { HarvestSettings } from "../settings.ts";

/** Makes the guarded fetch and the `Ask` for services, as configured. */
export function clientsWith({ allowPrivate, httpsProxy, noProxy }: HarvestSettings) {
	const fetch = createFetch({ allowPrivate, httpsProxy, noProxy });
	return { fetch, ask: createAsk({ fetch }) };
}

/** Makes the guarded `Ask` for services, as configured. */
export function askWith(settings: HarvestSettings): Ask {
	return clientsWith(settings).ask;
}
