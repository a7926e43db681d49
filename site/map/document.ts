import { settings } from "../page/page.ts";
import { wkidOf } from "../service/boxes.ts";
import { findLayer } from "../service/capabilities.ts";
import type { PictureFacts } from "../service/picture.ts";
import { pictureFactsOf, referencesFor } from "../service/picture-facts.ts";
import { askCapabilities, blockedReason, ServiceFailed } from "./ask.ts";
import type { Drawable } from "./drawable.ts";
import { registerProjections } from "./reproject.ts";

/**
 * Reads what the document of a Web Map Service says about the pictures of a layer, for a service that refused the usual
 * request.
 * @returns with the well-known id of the reference to ask in; null if the document cannot be read, or does not list the layer
 */
export async function readPictures(
	{ kind, url, entries }: Drawable,
	signal: AbortSignal,
): Promise<{ facts: PictureFacts; wkid: number } | null> {
	const names = entries.map(String);
	if (kind !== "wms" || names[0] === undefined) return null;
	const capabilities = await askCapabilities(url, names, signal).catch((error: unknown) => {
		if (error instanceof ServiceFailed || signal.aborted) return null;
		throw error;
	});
	const match = capabilities && findLayer(capabilities, names[0]);
	if (!match) return null;
	const facts = pictureFactsOf(capabilities, match.layer);
	const address = facts.address === "" || blockedReason(facts.address) ? "" : facts.address;
	const known = referencesFor(facts, settings.mapWkid).flatMap((reference) => wkidOf(reference) ?? []);
	const wkid = known[0] ?? settings.mapWkid;
	if (wkid !== settings.mapWkid) registerProjections(settings.mapWkid, wkid);
	return { facts: { ...facts, address }, wkid };
}
