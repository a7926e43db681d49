import { lang, settings } from "../page/page.ts";
import { readDocument } from "../service/arcgis.ts";
import { wkidOf } from "../service/boxes.ts";
import { boxOf, findLayer, textFor } from "../service/capabilities.ts";
import { exceptionIn, NotCapabilities, readCapabilities } from "../service/read-capabilities.ts";
import { capabilitiesAddress, pictureFactsOf, referencesFor } from "../service/requests.ts";
import type { Drawable } from "./drawable.ts";
import { askBytes, blockedReason, orFailure, ServiceFailed } from "./service-request.ts";

export async function findPictureError(address: string): Promise<ServiceFailed> {
	const answer = await orFailure(askBytes(address));
	if (answer instanceof ServiceFailed) return answer;
	const { bytes, type } = answer;
	const words = readDocument(bytes).error?.words || (await exceptionIn(bytes, type));
	if (words) return new ServiceFailed(address, "exception", words);
	return new ServiceFailed(address, type.startsWith("image/") ? "unreachable" : "no-picture");
}

async function askCapabilities(url: string, names: readonly string[], signal?: AbortSignal) {
	const { bytes, type } = await askBytes(capabilitiesAddress("WMS", url, { hasVersion: false }), signal);
	return readCapabilities("WMS", [bytes], type, names).catch((error: unknown) => {
		if (!(error instanceof NotCapabilities)) throw error;
		throw new ServiceFailed(url, error.words ? "exception" : "no-picture", error.words);
	});
}

export async function readLayers(url: string, layerName: string) {
	const capabilities = await askCapabilities(url, [layerName]);
	return [...capabilities.layers].map(([name, layer]) => {
		const title = textFor(layer.title, lang).replace(/\s+/g, " ");
		return { name, title, bounds: boxOf(layer, capabilities) };
	});
}

/** Null if the capabilities do not list the layer. */
export async function readPictures({ kind, url, entries }: Drawable, signal: AbortSignal) {
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
	const wkids = referencesFor(facts, settings.mapWkid).flatMap((reference) => wkidOf(reference) ?? []);
	return { facts: { ...facts, address }, wkid: wkids[0] ?? settings.mapWkid };
}
