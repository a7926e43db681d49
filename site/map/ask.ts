import { tryJson } from "../../registry/try-json.ts";
import { webAddress } from "../page/dom.ts";
import { t } from "../page/texts.ts";
import type { Text } from "../text/translate.ts";
import { capabilitiesOf, type Drawable } from "./drawable.ts";

/** Longest time to wait for a service, in milliseconds. */
export const timeoutMs = 10_000;

/** Most characters of a service's error text that are shown. */
const maxErrorLength = 300;

const unreachable: Text =
	"{0} could not be reached from this page: it is down, or does not let pages of other sites read its answers.";

const mixed: Text =
	"{0} is registered with an http address. A page that came over https cannot ask it: this says nothing about whether the service works.";

/** The service answered with something else than what it was asked for. */
export const oddAnswer: Text = "{0} answered with something that is no map.";

/** The service did not answer in time. */
export const noAnswer: Text = "{0} did not answer within 10 seconds.";

/** A request to a service failed. The message is for users, and names the host. */
export class ServiceFailed extends Error {
	/** @param text in which `{0}` is the host of the address, and `{1}` the detail */
	constructor(address: string, text: Text, detail: string | number = "") {
		super(t(text, webAddress(address)?.host ?? address, detail));
	}
}

/** Why a page cannot send requests to an address; null if it can. */
export function blockedReason(address: string): ServiceFailed | null {
	const url = webAddress(address);
	if (!url) return new ServiceFailed(address, "{0} is no address that can be asked.");
	const isMixed = location.protocol === "https:" && url.protocol === "http:" && !isLoopback(url.hostname);
	return isMixed ? new ServiceFailed(address, mixed) : null;
}

/** Browsers allow an https page to use http on its own machine (W3C, "Secure Contexts", 3.1). */
function isLoopback(host: string): boolean {
	return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Reads a text and its media type from a service. @throws {ServiceFailed} */
export async function ask(address: string, signal?: AbortSignal): Promise<{ text: string; type: string }> {
	const blocked = blockedReason(address);
	if (blocked) throw blocked;
	const timeout = AbortSignal.timeout(timeoutMs);
	try {
		const response = await fetch(address, {
			signal: AbortSignal.any(signal ? [signal, timeout] : [timeout]),
			credentials: "omit",
			referrerPolicy: "no-referrer",
		});
		const text = await response.text();
		if (!response.ok) throw new ServiceFailed(address, "{0} answered with status {1}.", response.status);
		return { text, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		if (error instanceof ServiceFailed || signal?.aborted) throw error;
		throw new ServiceFailed(address, timeout.aborted ? noAnswer : unreachable);
	}
}

/** Reads JSON from an ArcGIS service, which sends errors with status 200. @throws {ServiceFailed} */
export async function askJson(address: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
	const { text } = await ask(address, signal);
	const value = objectOf(text);
	if (!value) throw new ServiceFailed(address, oddAnswer);
	const { error } = value as { error?: { message?: unknown; code?: unknown } };
	if (!error) return value;
	throw new ServiceFailed(address, "{0} says: {1}", oneLine(error.message || error.code || "error"));
}

/** Finds out why a picture failed to load: it requests the address again and reads the service's error text. */
export async function findPictureError(address: string): Promise<ServiceFailed> {
	try {
		const { text, type } = await ask(address);
		const json = objectOf(text)?.error as { message?: unknown } | undefined;
		const xml = new DOMParser().parseFromString(text, "text/xml");
		const said = oneLine(json?.message ?? xml.querySelector("ServiceException")?.textContent ?? "");
		if (said) return new ServiceFailed(address, "{0} says: {1}", said);
		return new ServiceFailed(address, type.startsWith("image/") ? unreachable : oddAnswer);
	} catch (error) {
		if (error instanceof ServiceFailed) return error;
		throw error;
	}
}

/** Requests a service's own description. @returns a text for users: whether the service answers */
export async function lookNow({ kind, url }: Drawable, signal: AbortSignal): Promise<string> {
	const blocked = blockedReason(url);
	if (blocked) return blocked.message;
	const address = new URL(url);
	try {
		if (kind === "wms") {
			const { text } = await ask(capabilitiesOf(url), signal);
			if (!/<(?:WMT_MS|WMS)_Capabilities\b/.test(text)) throw new ServiceFailed(url, oddAnswer);
		} else if (kind === "none") await ask(url, signal);
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

/** Parses a JSON object; null if the text is not one. */
function objectOf(text: string): Record<string, unknown> | null {
	const value = tryJson(text);
	return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
}

/** A service's text on one line, cut to `maxErrorLength`. */
function oneLine(text: unknown): string {
	const line = String(text).replace(/\s+/g, " ").trim();
	return line.length > maxErrorLength ? `${line.slice(0, maxErrorLength)}…` : line;
}
