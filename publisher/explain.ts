import { visible } from "../registry/markdown.ts";
import { counted } from "../terminal/plain.ts";
import { type SignedRequest, targetOf } from "./request.ts";

/** Characters shown of a body. */
const maxBodyLength = 400;

function bodyText(body: Uint8Array): string {
	if (body.length === 0) return "";
	const text = visible(new TextDecoder().decode(body));
	return text.length <= maxBodyLength ? text : `${text.slice(0, maxBodyLength)}…`;
}

/**
 * Explains a request's signature to a person whose own client gets 401. The lines have the parts of the signed text, the
 * text with its parts between ‹ and ›, and the request as sent. They do not have the secret.
 */
export function explain(request: SignedRequest): string[] {
	const { headers, method, body, url } = request;
	const target = targetOf(request);
	const bytes = counted(body.length, "byte");
	const parts = [target, headers.Sender, headers.TimeStamp, bodyText(body)];
	return [
		"The signed text is four parts, joined without separators:",
		"",
		`  path       ${target}`,
		`  sender     ${headers.Sender}`,
		`  timestamp  ${headers.TimeStamp}`,
		`  body       ${bytes}, as they are sent`,
		"",
		"Each part between ‹ and ›, which are not signed; control characters of the body are spelled out:",
		"",
		`  ${parts.map((part) => `‹${part}›`).join("")}`,
		"",
		"Signature: HMAC-SHA-256 of that text with the secret, in URL-safe base64 without padding:",
		`${headers.Authorization.length} characters of A-Z a-z 0-9 - _, and no scheme word before them.`,
		"",
		"What is sent:",
		"",
		`  ${method} ${target} HTTP/1.1`,
		`  Host: ${new URL(url).host}`,
		...Object.entries(headers).map(([name, text]) => `  ${name}: ${text}`),
		...(body.length > 0 ? ["  Content-Type: application/json"] : []),
		`  Content-Length: ${body.length}`,
	];
}
