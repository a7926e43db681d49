import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { signedHeaders } from "../helpers/signed.ts";

export interface Answer {
	status: number;
	headers: Record<string, string | undefined>;
	bytes: Buffer;
	text: string;
}

interface Words {
	headers?: Record<string, string | undefined>;
	body?: string | Uint8Array | undefined;
}

/** `fetch` would change the target. No answer shows a stack trace or says 500. */
export async function ask(
	origin: string,
	method: string,
	target: string,
	{ headers = {}, body }: Words = {},
): Promise<Answer> {
	const { hostname, port } = new URL(origin);
	const sent = request({ hostname, port, method, path: target, agent: false });
	for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.setHeader(name, value);
	if (body !== undefined) sent.setHeader("Content-Length", Buffer.byteLength(body));
	// After its answer, a server may close a connection whose body it has not read.
	sent.on("error", () => undefined);
	sent.end(body);
	const [response] = (await once(sent, "response")) as [IncomingMessage];
	const bytes = await buffer(response);
	const answer = {
		status: response.statusCode ?? 0,
		headers: response.headers as Answer["headers"],
		bytes,
		text: bytes.toString("utf8"),
	};
	// The development server in front of workerd asks for what it lost to be sent again.
	if (answer.status === 503 && answer.text.startsWith("Your worker restarted mid-request"))
		return ask(origin, method, target, { headers, body });
	if (answer.status === 500 || /^\s+at .+:\d+:\d+/m.test(answer.text))
		throw new Error(`${method} ${target}: ${answer.status} ${answer.text.slice(0, 500)}`);
	return answer;
}

export interface Signed {
	secret?: string;
	timestamp?: string;
	/** What is signed in place of the target and of the body. */
	path?: string;
	signedBody?: string;
	body?: string | Uint8Array;
	/** Undefined leaves one out. */
	headers?: Record<string, string | undefined>;
}

export async function write(
	origin: string,
	method: string,
	target: string,
	{ secret, timestamp, path = target, body, signedBody = "", headers }: Signed = {},
): Promise<Answer> {
	const signed = await signedHeaders(path, signedBody || body || "", { secret, timestamp });
	return ask(origin, method, target, { headers: { ...signed, ...headers }, body });
}

/** @throws {Error} where the body is not `{"errors": [text, …]}` */
export function errorsOf(answer: Answer): string[] {
	const { errors } = JSON.parse(answer.text) as { errors: unknown };
	if (!Array.isArray(errors) || errors.length === 0 || !errors.every((error) => typeof error === "string")) {
		throw new Error(`not a list of errors: ${answer.text}`);
	}
	return errors;
}
