import type { Lang } from "../../registry/smallkey.ts";
import { frenchOf } from "../../registry/texts.ts";

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
export async function sendSigned(address: URL, sender: string, secret: string, body: string, now: Date) {
	const timestamp = now.toISOString();
	const response = await fetch(address, {
		method: "PUT",
		body,
		headers: {
			Authorization: await sign(secret, address.pathname, sender, timestamp, body),
			TimeStamp: timestamp,
			Sender: sender,
			"Content-Type": "application/json",
			// The page translates the errors itself: its language may differ from the browser's.
			"Accept-Language": "en",
		},
		credentials: "omit",
	});
	const answer = ((await response.json().catch(() => null)) ?? {}) as Record<string, unknown>;
	return {
		// A receipt has a member `status`, too: the address of the layer's status.
		status: response.status,
		errors: textsOf(answer.errors),
		warnings: textsOf(answer.warnings),
		/** Whether a reviewer has to approve the registration first. */
		isReviewed: answer.branch !== undefined || answer.pull_request !== undefined,
	};
}

/** The texts of a list. The answer may come from a proxy, and have anything else in its place. */
function textsOf(value: unknown): string[] {
	return Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];
}

/** A problem or a warning of a registration. Its JSON pointer (RFC 6901) is empty for the whole document. */
export type PlacedProblem = ReturnType<typeof placedProblem>;

/** Parses a problem as the API writes it, `<pointer>: <rule>` or `the document <rule>`, and translates the rule if it can. */
export function placedProblem(problem: string, lang: Lang) {
	const [, pointer = "", rule = problem] = /^(\/.*?): (.*)$/s.exec(problem) ?? [];
	const french = lang === "fr" ? frenchOf(rule) : null;
	return { pointer, text: french ?? rule, lang: french === null ? "en" : lang };
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
