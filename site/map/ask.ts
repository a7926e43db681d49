import type { CauseCode } from "../../registry/causes.ts";
import { isBlockedOn } from "../../registry/mixed-content.ts";
import { webAddress } from "../page/dom.ts";
import { capabilitiesAddress } from "../service/address.ts";
import { readDocument } from "../service/arcgis.ts";
import type { Capabilities } from "../service/capabilities.ts";
import type { Drawable } from "./drawable.ts";
import { t } from "./texts.ts";

/** Longest time to wait for a service, in milliseconds. */
export const timeoutMs = 10_000;

/** Most characters of a service's error text that are shown. */
const maxErrorLength = 300;

/** Why a page cannot use a service. The text `service-<code>` has the host and the detail. */
type FailureCode = Extract<
	CauseCode,
	"unreachable" | "not-secure" | "protocol" | "no-map" | "slow" | "status" | "exception"
>;

/** A request to a service failed. The message is for users, and names the host. */
export class ServiceFailed extends Error {
	constructor(
		address: string,
		readonly code: FailureCode,
		readonly detail: string | number = "",
	) {
		super(t(`service-${code}`, webAddress(address)?.host ?? address, detail));
	}
}

/** Why a page cannot send requests to an address; null if it can. */
export function blockedReason(address: string): ServiceFailed | null {
	const url = webAddress(address);
	if (!url) return new ServiceFailed(address, "protocol", address);
	return isBlockedOn(location.href, url.href) ? new ServiceFailed(address, "not-secure") : null;
}

/** Reads a text in UTF-8 from a service. @throws {ServiceFailed} */
export async function ask(address: string, signal?: AbortSignal): Promise<string> {
	return new TextDecoder().decode((await askBytes(address, signal)).bytes);
}

/** Reads a document and its media type from a service. @throws {ServiceFailed} */
export async function askBytes(
	address: string,
	signal?: AbortSignal,
): Promise<{ bytes: Uint8Array; type: string }> {
	const blocked = blockedReason(address);
	if (blocked) throw blocked;
	const timeout = AbortSignal.timeout(timeoutMs);
	try {
		const response = await fetch(address, {
			signal: AbortSignal.any(signal ? [signal, timeout] : [timeout]),
			credentials: "omit",
			referrerPolicy: "no-referrer",
		});
		const bytes = new Uint8Array(await response.arrayBuffer());
		if (!response.ok) throw new ServiceFailed(address, "status", response.status);
		return { bytes, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		if (error instanceof ServiceFailed || signal?.aborted) throw error;
		throw new ServiceFailed(address, timeout.aborted ? "slow" : "unreachable");
	}
}

/** Reads JSON from an ArcGIS service, which sends errors with status 200. @throws {ServiceFailed} */
export async function askJson(address: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
	const { bytes } = await askBytes(address, signal);
	// A thousand areas have many places.
	const { document, error } = readDocument(bytes, Number.POSITIVE_INFINITY);
	if (document) return document;
	if (!error) throw new ServiceFailed(address, "no-map");
	throw new ServiceFailed(address, "exception", oneLine(error.words || error.status || "error"));
}

/** Finds out why a picture failed to load: it requests the address again and reads the service's error text. */
export async function findPictureError(address: string): Promise<ServiceFailed> {
	try {
		const { bytes, type } = await askBytes(address);
		const { exceptionIn } = await import("../service/read-capabilities.ts");
		const said = oneLine(readDocument(bytes).error?.words || exceptionIn(bytes, type) || "");
		if (said) return new ServiceFailed(address, "exception", said);
		return new ServiceFailed(address, type.startsWith("image/") ? "unreachable" : "no-map");
	} catch (error) {
		if (error instanceof ServiceFailed) return error;
		throw error;
	}
}

/** Reads the capabilities of a Web Map Service, whichever version it answers with. @throws {ServiceFailed} */
export async function askCapabilities(
	url: string,
	names: readonly string[],
	signal?: AbortSignal,
): Promise<Capabilities> {
	const { bytes, type } = await askBytes(capabilitiesAddress("WMS", url, { hasVersion: false }), signal);
	const { readCapabilities, NotCapabilities } = await import("../service/read-capabilities.ts");
	return readCapabilities("WMS", [bytes], type, names).catch((error: unknown) => {
		if (!(error instanceof NotCapabilities)) throw error;
		throw error.words
			? new ServiceFailed(url, "exception", oneLine(error.words))
			: new ServiceFailed(url, "no-map");
	});
}

/** Requests a service's own description. @returns a text for users: whether the service answers */
export async function lookNow({ kind, url }: Drawable, signal: AbortSignal): Promise<string> {
	const blocked = blockedReason(url);
	if (blocked) return blocked.message;
	const address = new URL(url);
	try {
		if (kind === "wms") await askCapabilities(url, [], signal);
		else if (kind === "none") await ask(url, signal);
		else {
			address.searchParams.set("f", "json");
			await askJson(address.href, signal);
		}
		return t("service-answers", address.host);
	} catch (error) {
		if (signal.aborted) return "";
		if (!(error instanceof ServiceFailed)) throw error;
		return error.message;
	}
}

/** A service's text on one line, cut to `maxErrorLength`. */
function oneLine(text: unknown): string {
	const line = String(text).replace(/\s+/g, " ").trim();
	return line.length > maxErrorLength ? `${line.slice(0, maxErrorLength)}…` : line;
}
