import { createHash, createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { answering } from "../../helpers/world.ts";

/** One request that the store has answered. */
export interface Passed {
	method: string;
	/** The object's name. */
	name: string;
	status: number;
}

/** A bucket of an S3-compatible store in memory, which the tests let fail. */
export interface S3Peer extends AsyncDisposable {
	/** The variables that name it. */
	env: Record<string, string>;
	/** Every request that the store has answered, in order. */
	passed: Passed[];
	/** Decides before a request is answered: a status to answer instead, or `cut`; undefined lets it pass. */
	fault: (method: string, name: string) => number | "cut" | undefined;
	/** An object as it is stored. */
	read(name: string): Promise<{ status: number; headers: Headers; text: string }>;
}

const secret = "S3RVER";
type Stored = { bytes: Buffer; headers: Record<string, string> };

/** Starts one with an empty bucket called `fragments`. */
export async function startS3(): Promise<S3Peer> {
	const objects = new Map<string, Stored>();
	const server = await answering((request, response) => void answer(request, response, objects, peer));
	const peer: S3Peer = {
		env: {
			OBJECTS_ENDPOINT: server.origin,
			OBJECTS_BUCKET: "fragments",
			OBJECTS_REGION: "us-east-1",
			AWS_ACCESS_KEY_ID: secret,
			AWS_SECRET_ACCESS_KEY: secret,
		},
		passed: [],
		fault: () => undefined,
		async read(name) {
			const { bytes, headers } = objects.get(name) ?? {};
			return { status: bytes ? 200 : 404, headers: new Headers(headers), text: String(bytes ?? "") };
		},
		[Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
	};
	return peer;
}

async function answer(
	request: IncomingMessage,
	response: ServerResponse,
	objects: Map<string, Stored>,
	{ fault, passed }: S3Peer,
) {
	const { method = "", url = "", headers } = request;
	const name = decodeURIComponent(url.replace(/^\/fragments\//, ""));
	const failure = fault(method, name);
	if (failure === "cut") return void request.socket.destroy();
	const body = await buffer(request);
	const refuse = (status: number, code: string) => response.writeHead(status).end(`<Code>${code}</Code>`);
	if (failure !== undefined) return refuse(failure, "SlowDown");
	if (!isSigned(request, body)) return refuse(403, "SignatureDoesNotMatch");
	if (!url.startsWith("/fragments/")) return refuse(404, "NoSuchBucket");
	const { "content-type": type = "", "cache-control": caching = "" } = headers;
	const stored = objects.get(name);
	const status = method === "GET" && !stored ? 404 : method === "DELETE" ? 204 : 200;
	passed.push({ method, name, status });
	if (method === "PUT")
		objects.set(name, { bytes: body, headers: { "content-type": type, "cache-control": caching } });
	if (method === "DELETE") objects.delete(name);
	if (status === 404) return refuse(404, "NoSuchKey");
	response.writeHead(status).end(method === "GET" ? stored?.bytes : undefined);
}

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");
/** Percent-encoding of everything but the unreserved characters (RFC 3986, section 2.3). */
const encode = (text: string) =>
	encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * Whether a request without a query has the right signature, and the right hash of its body, if it names one (Amazon S3,
 * "Authenticating Requests: Using the Authorization Header").
 */
function isSigned({ method, url = "", headers }: IncomingMessage, body: Uint8Array): boolean {
	const pattern =
		/^AWS4-HMAC-SHA256 Credential=[^/]+\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/;
	const [, date = "", region = "", names = "", signature] = pattern.exec(headers.authorization ?? "") ?? [];
	const hash = String(headers["x-amz-content-sha256"]);
	if (hash !== "UNSIGNED-PAYLOAD" && hash !== sha256(body)) return false;
	const path = url.split("/").map((segment) => encode(decodeURIComponent(segment)));
	const lines = names.split(";").map((name) => `${name}:${String(headers[name] ?? "").trim()}`);
	const canonical = [method, path.join("/"), "", ...lines, "", names, hash].join("\n");
	const scope = `${date}/${region}/s3/aws4_request`;
	const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
	const key = hmac(hmac(hmac(hmac(`AWS4${secret}`, date), region), "s3"), "aws4_request");
	return hmac(key, text).toString("hex") === signature;
}
