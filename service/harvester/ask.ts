import { type Ask, createAsk } from "../../harvest/net/ask.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import type { HarvestSettings } from "../settings.ts";

/** Makes the guarded `Ask` for services, as configured. */
export function askWith({ allowPrivate, httpsProxy, noProxy }: HarvestSettings): Ask {
	return createAsk({ fetch: createFetch({ allowPrivate, httpsProxy, noProxy }) });
}
