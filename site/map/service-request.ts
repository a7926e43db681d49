import { isBlockedOn } from "../../registry/addresses.ts";
import { fillText } from "../../registry/texts/pairs.ts";
import type { CauseCode } from "../data/health.ts";
import { t, texts } from "../page/page.ts";
import { readDocument } from "../service/arcgis.ts";
import { quote } from "../service/decode.ts";

export const timeoutMs = 10_000;

type FailureCode = Extract<
	CauseCode,
	"unreachable" | "not-secure" | "redirects" | "no-picture" | "slow" | "status" | "exception"
>;

/** The message names the host and the cause. */
export class ServiceFailed extends Error {
	readonly detail: string | number;

	constructor(
		address: string,
		readonly code: FailureCode,
		detail: string | number = "",
	) {
		const value = typeof detail === "string" ? quote(detail) : detail;
		const cause = fillText(texts.causes, { code, values: [value] });
		const subject = webAddress(address)?.host ?? quote(address);
		const why = code === "unreachable" ? `${t("colon")} ${t("down-or-not-readable")}` : "";
		super(`${subject} ${cause}${why}`);
		this.detail = value;
	}
}

export function slowFailure(address: string): ServiceFailed {
	return new ServiceFailed(address, "slow", timeoutMs / 1000);
}

export async function orFailure<T>(task: Promise<T>): Promise<T | ServiceFailed> {
	return task.catch((error: unknown) => {
		if (error instanceof ServiceFailed) return error;
		throw error;
	});
}

/** Null for anything but http and https, such as `javascript:`. */
function webAddress(text: string): URL | null {
	return /^\s*https?:/i.test(text) && URL.canParse(text) ? new URL(text) : null;
}

/** Null if a page can send requests there. */
export function blockedReason(address: string): ServiceFailed | null {
	const url = webAddress(address);
	if (!url) return new ServiceFailed(address, "redirects");
	return isBlockedOn(url.href, location.href) ? new ServiceFailed(address, "not-secure") : null;
}

/** @throws {ServiceFailed} */
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
		throw timeout.aborted ? slowFailure(address) : new ServiceFailed(address, "unreachable");
	}
}

/** Asks an ArcGIS service. @throws {ServiceFailed} */
export async function askJson(address: string, signal?: AbortSignal): Promise<Record<string, unknown>> {
	const { bytes } = await askBytes(address, signal);
	const { document, error } = readDocument(bytes, Number.POSITIVE_INFINITY);
	if (document) return document;
	if (!error) throw new ServiceFailed(address, "no-picture");
	throw new ServiceFailed(address, "exception", error.words || String(error.status ?? "error"));
}
