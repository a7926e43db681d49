import { maxRegistrationBytes } from "../registry/registration.ts";
import type { Lang } from "../registry/smallkey.ts";
import { problemAt, type TextCode, textsOf } from "../registry/texts.ts";
import { shorten } from "../registry/untrusted.ts";
import type { Refusal } from "../store/store.ts";

export interface Reply {
	status: number;
	headers: Record<string, string>;
	body: Uint8Array;
	/** Absent without texts for people. */
	bodyIn?: (lang: Lang) => Uint8Array;
	/** For the log and the metrics: the code of a refusal's first problem. */
	reason?: TextCode | undefined;
	/** In English, for the log only. */
	cause?: string;
}

export const headersOfAnyType = {
	"Access-Control-Allow-Origin": "*",
	"Access-Control-Expose-Headers": "ETag, Date",
	// RFC 5861.
	"Cache-Control": "public, max-age=60, stale-while-revalidate=60, stale-if-error=86400",
	"X-Content-Type-Options": "nosniff",
} as const;

export const fragmentHeaders = {
	"Content-Type": "application/json; charset=utf-8",
	...headersOfAnyType,
} as const;

export const refusalCaching = "public, max-age=5";

export const uncachedHeaders = { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff" } as const;
const jsonHeaders = { "Content-Type": "application/json", ...uncachedHeaders };

const maxErrorLength = 1_000;

const encoder = new TextEncoder();

export const emptyBody = new Uint8Array(0);

export function answerTagged(
	headers: Record<string, string> & { ETag: string },
	ifNoneMatch: string | null,
	makeBody: () => Uint8Array,
): Reply {
	const isUnchanged = ifNoneMatch !== null && matchesEtag(ifNoneMatch, headers.ETag);
	return { status: isUnchanged ? 304 : 200, headers, body: isUnchanged ? emptyBody : makeBody() };
}

const maxTagsLength = 8_192;

/** Weak comparison (RFC 9110, section 13.1.2): a cache that compresses makes the tag weak. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
	if (ifNoneMatch === etag || ifNoneMatch.trim() === "*") return true;
	if (!ifNoneMatch.includes(etag) || ifNoneMatch.length > maxTagsLength) return false;
	return ifNoneMatch.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}

const refusalHeaders = { ...headersOfAnyType, "Cache-Control": refusalCaching };

export function refuseRead(status: number): Reply {
	const allowed = status === 405 && { Allow: "GET, HEAD" };
	return { status, headers: { ...refusalHeaders, ...allowed }, body: emptyBody };
}

export function refuseFile(): Reply {
	return refuse({ status: 404, errors: [problemAt("path", "no-file")] }, refusalHeaders);
}

/** `*` does not include `Authorization` (Fetch Standard, "CORS non-wildcard request-header name"). */
export function allowReads(): Reply {
	const headers = {
		"Access-Control-Allow-Origin": "*",
		"Access-Control-Allow-Methods": "GET, HEAD",
		"Access-Control-Allow-Headers": "*, Authorization",
		"Access-Control-Max-Age": "86400",
	};
	return { status: 204, headers, body: emptyBody };
}

export function jsonReply(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
	return { status, headers: { ...jsonHeaders, ...headers }, body: encoder.encode(JSON.stringify(value)) };
}

export function refuse({ status, errors, retryAfter }: Refusal, headers: Record<string, string> = {}): Reply {
	const wait = retryAfter !== undefined && { "Retry-After": String(retryAfter) };
	const valueIn = (lang: Lang) => ({
		errors: textsOf(errors, lang).map((text) => shorten(text, maxErrorLength)),
	});
	return { ...textReply(status, valueIn, { ...wait, ...headers }), reason: errors[0]?.code };
}

export function textReply(
	status: number,
	valueIn: (lang: Lang) => unknown,
	headers: Record<string, string> = {},
): Reply {
	const bodyIn = (lang: Lang) => encoder.encode(JSON.stringify(valueIn(lang)));
	return { status, headers: { ...jsonHeaders, ...headers }, body: bodyIn("en"), bodyIn };
}

export const tooLarge: Refusal = {
	status: 413,
	errors: [/* @__PURE__ */ problemAt("document", "size", maxRegistrationBytes)],
};

export function inLanguageOf(reply: Reply, acceptLanguage: string | null): Reply {
	const { bodyIn } = reply;
	if (!bodyIn) return reply;
	const isCached = reply.headers["Cache-Control"] !== uncachedHeaders["Cache-Control"];
	const headers = isCached ? { ...reply.headers, Vary: "Accept-Language" } : reply.headers;
	if (!prefersFrench(acceptLanguage)) return { ...reply, headers };
	return { ...reply, headers: { ...headers, "Content-Language": "fr" }, body: bodyIn("fr") };
}

/** RFC 9110, section 12.5.4. */
function prefersFrench(header: string | null): boolean {
	const text = (header ?? "").slice(0, 500).replaceAll(/\s/g, "").toLowerCase();
	const weights = { en: 0, fr: 0 };
	for (const part of text.split(",")) {
		const [, lang, weight = "1"] = /^(en|fr)(?:-[a-z0-9-]+)?(?:;q=([0-9.]+))?$/.exec(part) ?? [];
		if (lang === "en" || lang === "fr") weights[lang] = Math.max(weights[lang], Number(weight) || 0);
	}
	const { en, fr } = weights;
	return fr > en || (fr > 0 && fr === en && text.startsWith("fr"));
}
