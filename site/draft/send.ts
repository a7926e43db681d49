import type { Lang } from "../../registry/smallkey.ts";
import { type Problem, textIn } from "../../registry/texts.ts";

const encoder = new TextEncoder();

/** HMAC-SHA-256 of path, sender, timestamp and body in URL-safe base64 without padding (specification, "Signature computation"). */
export async function sign(
	secret: string,
	path: string,
	sender: string,
	timestamp: string,
	body: string,
): Promise<string> {
	const algorithm = { name: "HMAC", hash: "SHA-256" };
	const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["sign"]);
	const digest = await crypto.subtle.sign("HMAC", key, encoder.encode(path + sender + timestamp + body));
	return btoa(String.fromCharCode(...new Uint8Array(digest)))
		.replaceAll("+", "-")
		.replaceAll("/", "_")
		.replaceAll("=", "");
}

/** Signs a registration and sends it. @throws {TypeError} if the service does not answer */
export async function sendSigned(
	address: URL,
	sender: string,
	secret: string,
	body: string,
	{ now, lang }: { now: Date; lang: Lang },
) {
	const timestamp = now.toISOString();
	const response = await fetch(address, {
		method: "PUT",
		body,
		headers: {
			Authorization: await sign(secret, address.pathname, sender, timestamp, body),
			TimeStamp: timestamp,
			Sender: sender,
			"Content-Type": "application/json",
			// That of the page may differ from the browser's.
			"Accept-Language": lang,
		},
		credentials: "omit",
	});
	const language: Lang = response.headers.get("Content-Language") === "fr" ? "fr" : "en";
	const placed = (text: string) => ({ pointer: "", text, lang: language });
	const answer = ((await response.json().catch(() => null)) ?? {}) as Record<string, unknown>;
	return {
		// A receipt has a member `status`, too: the address of the layer's status.
		status: response.status,
		errors: textsOf(answer.errors).map(placed),
		warnings: textsOf(answer.warnings).map(placed),
		/** Whether a reviewer has to approve the registration first. */
		isReviewed: answer.branch !== undefined || answer.pull_request !== undefined,
	};
}

/** The texts of a list. The answer may come from a proxy, and have anything else in its place. */
function textsOf(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];
}

/** A problem or a warning as the page shows it. */
export interface PlacedProblem {
	/** Its JSON pointer (RFC 6901); empty for the whole document. */
	pointer: string;
	text: string;
	lang: Lang;
}

export function placedProblem({ place, ...text }: Problem, lang: Lang): PlacedProblem {
	const pointer = place.startsWith("/") ? place : "";
	return { pointer, text: textIn(lang, { ...text, place: pointer ? "" : place }), lang };
}

/** Quotes a text as one word of a POSIX shell. */
function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Shell commands that sign a registration with `openssl` and send it with `curl`, as in docs/publish.md. The shell reads
 * the secret from the variable SECRET; it is not in this text.
 */
export function curlCommand(address: URL, sender: string, body: string): string {
	return `BODY=${quoted(body)}
SENDER=${quoted(sender)}
TARGET=${quoted(address.pathname)}
TIMESTAMP=$(date -u +%Y-%m-%dT%H:%M:%SZ)
SIGNATURE=$(printf %s "$TARGET$SENDER$TIMESTAMP$BODY" |
  openssl dgst -sha256 -mac HMAC -macopt hexkey:"$(printf %s "\${SECRET:?}" | od -An -tx1 | tr -d ' \\n')" -binary |
  openssl base64 -A | tr '+/' '-_' | tr -d '=')
printf %s "$BODY" | curl --silent --show-error --request PUT --data-binary @- --header 'Content-Type: application/json' \\
  --header "Authorization: $SIGNATURE" --header "TimeStamp: $TIMESTAMP" --header "Sender: $SENDER" ${quoted(address.origin)}"$TARGET"
`;
}
