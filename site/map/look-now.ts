import { t } from "../page/texts.ts";
import { ask, askJson, blockedReason, oddAnswer, ServiceFailed } from "./ask.ts";
import { capabilitiesOf, type Drawable } from "./drawable.ts";

/** Requests a service's own description. @returns a text for users: whether the service answers */
export async function lookNow({ kind, url }: Drawable, signal: AbortSignal): Promise<string> {
	const blocked = blockedReason(url);
	if (blocked) return blocked;
	const address = new URL(url);
	try {
		if (kind === "wms") {
			const { text } = await ask(capabilitiesOf(address), signal);
			if (!/<(?:WMT_MS|WMS)_Capabilities\b/.test(text)) return oddAnswer(address.host).message;
		} else if (kind === "none") await ask(address.href, signal);
		else {
			address.searchParams.set("f", "json");
			await askJson(address.href, signal);
		}
		return t("{0} answers.", address.host);
	} catch (error) {
		if (signal.aborted) return "";
		if (!(error instanceof ServiceFailed)) throw error;
		return error.message;
	}
}
