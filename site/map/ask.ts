import type { Texts } from "../text/english.ts";

/** How long a service may take, in milliseconds. */
export const patienceMs = 10_000;

/** Most characters of a service's own words that are shown. */
const maxWords = 300;

/** Why a service gave no map. */
export type Failure =
	| { kind: "address"; address: string }
	| { kind: "mixed" | "timeout" | "network" | "odd"; host: string }
	| { kind: "status"; host: string; status: number }
	| { kind: "said"; host: string; text: string };

/** A service that did not do what was asked. */
export class ServiceFailed extends Error {
	constructor(readonly failure: Failure) {
		super(failure.kind);
	}
}

/** A failure in words: who failed, and what it said. */
export function failureText(texts: Texts, failure: Failure): string {
	switch (failure.kind) {
		case "address":
			return texts.failAddress(failure.address);
		case "mixed":
			return texts.failMixed(failure.host);
		case "timeout":
			return texts.failTimeout(failure.host);
		case "network":
			return texts.failNetwork(failure.host);
		case "odd":
			return texts.failOdd(failure.host);
		case "status":
			return texts.failStatus(failure.host, failure.status);
		case "said":
			return texts.failSaid(failure.host, failure.text);
	}
}

/** Why a page cannot ask an address; null where it can. */
export function obstacle(address: string, pageProtocol: string): Failure | null {
	let url: URL;
	try {
		url = new URL(address);
	} catch {
		return { kind: "address", address };
	}
	if (url.protocol !== "http:" && url.protocol !== "https:") return { kind: "address", address };
	const isMixed = pageProtocol === "https:" && url.protocol === "http:" && !isLoopback(url.hostname);
	return isMixed ? { kind: "mixed", host: url.host } : null;
}

/** Browsers let a page over https ask this machine over http (W3C, "Secure Contexts", 3.1). */
function isLoopback(host: string): boolean {
	return host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** An answer of a service as text, with its type. */
export interface Answer {
	text: string;
	type: string;
}

/** Asks a service. @throws {ServiceFailed} */
export async function ask(address: string, signal?: AbortSignal): Promise<Answer> {
	const blocked = obstacle(address, location.protocol);
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
		if (!response.ok) throw new ServiceFailed({ kind: "status", host, status: response.status });
		return { text, type: response.headers.get("Content-Type") ?? "" };
	} catch (error) {
		if (error instanceof ServiceFailed) throw error;
		if (signal?.aborted) throw error;
		throw new ServiceFailed({ kind: timeout.aborted ? "timeout" : "network", host });
	}
}

/** Asks an ArcGIS service for JSON. Its errors come with status 200. @throws {ServiceFailed} */
export async function askJson(address: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
	const { text } = await ask(address, signal);
	const { host } = new URL(address);
	const value = objectOf(text);
	if (!value) throw new ServiceFailed({ kind: "odd", host });
	const { error } = value as { error?: { message?: unknown; code?: unknown } };
	if (!error) return value;
	const said = words(String(error.message || error.code || "error"));
	throw new ServiceFailed({ kind: "said", host, text: said });
}

/** Why a picture did not come: its address is asked again, for the service's error message. */
export async function whyNoPicture(address: string): Promise<Failure> {
	const { host } = new URL(address);
	try {
		const { text, type } = await ask(address);
		const said = exceptionOf(text);
		if (said) return { kind: "said", host, text: said };
		return type.startsWith("image/") ? { kind: "network", host } : { kind: "odd", host };
	} catch (error) {
		if (error instanceof ServiceFailed) return error.failure;
		throw error;
	}
}

/** The words of a WMS exception report or an ArcGIS error; null where there are none. */
export function exceptionOf(text: string): string | null {
	const json = objectOf(text)?.error as { message?: unknown } | undefined;
	const xml = new DOMParser().parseFromString(text, "text/xml");
	const [said] = xml.getElementsByTagNameNS("*", "ServiceException");
	return words(String(json?.message ?? said?.textContent ?? "")) || null;
}

/** The object that a text is as JSON; null where it is none. */
function objectOf(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
	} catch {
		return null;
	}
}

/** A service's words on one line, without what could be markup of another page. */
function words(text: string): string {
	const line = text.replace(/\s+/g, " ").trim();
	return line.length > maxWords ? `${line.slice(0, maxWords)}…` : line;
}
