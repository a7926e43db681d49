import { createHash, createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

function hmac(key: string | Buffer, text: string): Buffer {
	return createHmac("sha256", key).update(text).digest();
}

function sha256(bytes: string | Uint8Array): string {
	return createHash("sha256").update(bytes).digest("hex");
}

/** Percent-encoding of everything but the unreserved characters (RFC 3986, section 2.3). */
function encode(text: string): string {
	return encodeURIComponent(text).replace(
		/[!'()*]/g,
		(c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
	);
}

/**
 * Whether a request without a query carries the right signature of its secret and, where it names one, the right hash
 * of its body (Amazon S3, "Authenticating Requests: Using the Authorization Header"). s3rver checks neither.
 */
export function isSigned(
	method: string,
	path: string,
	headers: IncomingHttpHeaders,
	body: Uint8Array,
	secret: string,
): boolean {
	const pattern =
		/^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
	const [, date = "", region = "", names = "", signature] = pattern.exec(headers.authorization ?? "") ?? [];
	const hash = String(headers["x-amz-content-sha256"]);
	if (hash !== "UNSIGNED-PAYLOAD" && hash !== sha256(body)) return false;
	const canonical = [
		method,
		path
			.split("/")
			.map((segment) => encode(decodeURIComponent(segment)))
			.join("/"),
		"",
		...names.split(";").map((name) => `${name}:${String(headers[name] ?? "").trim()}`),
		"",
		names,
		hash,
	].join("\n");
	const scope = `${date}/${region}/s3/aws4_request`;
	const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
	const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), "s3"), "aws4_request");
	return hmac(key, text).toString("hex") === signature;
}
