import type { Texts } from "../text/english.ts";
import { ask, askJson, failureText, obstacle, ServiceFailed } from "./ask.ts";
import type { Drawable } from "./drawable.ts";

/** Asks a service what it says of itself, and says in words whether it answers. */
export async function lookNow(texts: Texts, { kind, url }: Drawable, signal: AbortSignal): Promise<string> {
	const blocked = obstacle(url, location.protocol);
	if (blocked) return failureText(texts, blocked);
	const address = new URL(url);
	try {
		if (kind === "wms") {
			address.searchParams.set("SERVICE", "WMS");
			address.searchParams.set("REQUEST", "GetCapabilities");
			const { text } = await ask(address.href, signal);
			if (!/<(?:WMT_MS|WMS)_Capabilities\b/.test(text)) return texts.failOdd(address.host);
		} else if (kind === "none") await ask(address.href, signal);
		else {
			address.searchParams.set("f", "json");
			await askJson(address.href, signal);
		}
		return texts.lookedWell(address.host);
	} catch (error) {
		if (signal.aborted) return "";
		if (!(error instanceof ServiceFailed)) throw error;
		return failureText(texts, error.failure);
	}
}
