import { tryJson } from "../../registry/try-json.ts";
import { webAddress } from "../page/dom.ts";
import { texts } from "../page/page.ts";

/** How long a service may take, in milliseconds. */
export const patienceMs = 10_000;

/** Most characters of a service's own words that are shown. */
const maxWords = 300;

/** A service that did not do what was asked. The message says to people who failed, and what it said. */
export class ServiceFailed extends Error {
	/** @param said the service's own words; empty: it gave none */
	constructor(
		message: string,
		readonly said = "",
	) {
		super(message);
	}
}

/** Why a page cannot ask an address, in words; null where it can. */
export function obstacle(address: string): string | null {
	const url = webAddress(address);
	if (!url) return texts.failAddress(address);
	const isMixed = location.protocol === "https:" && url.protocol === "http:" && !isLoopback(url.hostname);
	return isMixed ? texts.failMixed(url.host) : null;
}

/** Browsers let a page over https ask this machine over http (W3C, "Secure Contexts", 3.1). */
function isLoopback(host: string): boolean {
	return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Asks a service for a text, with its media type. @throws {ServiceFailed} */
export async function ask(address: string, signal?: AbortSignal): Promise<{ text: string; type: string }> {
	const blocked = obstacle(address);
	if (blocked) throw new ServiceFailed(blocked);
	const { host } = new URL(address);
	const timeout = AbortSignal.timeout(patienceMs);
	const signals = signal ? [signal, timeout] : [timeout];
	try {
		const response = await fetch(address, {
			signal: AbortSignal.any(signals),
			credentials: "omit",
			referrerPolicy: "no-referrer",
		});
		const text = await response.text();
		if (!response.ok) throw new ServiceFailed(texts.failStatus(host, response.status));
		return { text, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		if (error instanceof ServiceFailed) throw error;
		if (signal?.aborted) throw error;
		const text = timeout.aborted ? texts.failTimeout(host) : texts.failNetwork(host);
		throw new ServiceFailed(text);
	}
}

/** Asks an ArcGIS service for JSON. Its errors come with status 200. @throws {ServiceFailed} */
export async function askJson(address: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
	const { text } = await ask(address, signal);
	const { host } = new URL(address);
	const value = objectOf(text);
	if (!value) throw new ServiceFailed(texts.failOdd(host));
	const { error } = value as { error?: { message?: unknown; code?: unknown } };
	if (!error) return value;
	const said = words(String(error.message || error.code || "error"));
	throw new ServiceFailed(texts.failSaid(host, said), said);
}

/** Why a picture did not come: its address is asked again, for the service's error message. */
export async function whyNoPicture(address: string): Promise<ServiceFailed> {
	const { host } = new URL(address);
	try {
		const { text, type } = await ask(address);
		const said = exceptionOf(text);
		if (said) return new ServiceFailed(texts.failSaid(host, said), said);
		return new ServiceFailed(type.startsWith("image/") ? texts.failNetwork(host) : texts.failOdd(host));
	} catch (error) {
		if (error instanceof ServiceFailed) return error;
		throw error;
	}
}

/** The words of a WMS exception report or an ArcGIS error; null where there are none. */
function exceptionOf(text: string): string | null {
	const json = objectOf(text)?.error as { message?: unknown } | undefined;
	const xml = new DOMParser().parseFromString(text, "text/xml");
	const [said] = xml.getElementsByTagNameNS("*", "ServiceException");
	return words(String(json?.message ?? said?.textContent ?? "")) || null;
}

/** The object that a text is as JSON; null where it is none. */
function objectOf(text: string): Record<string, unknown> | null {
	const value = tryJson(text);
	return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
}

/** A service's words on one line, without what could be markup of another page. */
function words(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return line.length > maxWords ? `${line.slice(0, maxWords)}…` : line;
}
