import { request } from "node:http";
import { signedHeaders } from "../helpers/signed.ts";
import { senders } from "./engine.ts";

export interface Answer {
	status: number;
	headers: Record<string, string | undefined>;
	bytes: Buffer;
	text: string;
}

export interface Words {
	headers?: Record<string, string>;
	body?: string | Uint8Array;
}

/**
 * Sends a request with its target as it is: `fetch` would change it first. No answer ever shows a stack trace or
 * says 500.
 */
export function ask(origin: string, method: string, target: string, words: Words = {}): Promise<Answer> {
	const { hostname, port } = new URL(origin);
	const body = words.body === undefined ? undefined : Buffer.from(words.body);
	return new Promise((resolve, reject) => {
		const headers = { ...words.headers, ...(body ? { "Content-Length": String(body.length) } : {}) };
		const options = { hostname, port, method, path: target, headers, agent: false };
		const sent = request(options, (response) => {
			const chunks: Buffer[] = [];
			response.on("data", (chunk: Buffer) => chunks.push(chunk));
			response.on("error", reject);
			response.on("end", () => {
				const bytes = Buffer.concat(chunks);
				const answer = {
					status: response.statusCode ?? 0,
					headers: response.headers as Record<string, string | undefined>,
					bytes,
					text: bytes.toString("utf8"),
				};
				const leak = answer.status === 500 || /^\s+at .+:\d+:\d+/m.test(answer.text);
				// The development server in front of workerd asks for what it lost to be sent again.
				if (answer.status === 503 && answer.text.startsWith("Your worker restarted mid-request"))
					return resolve(ask(origin, method, target, words));
				if (leak) reject(new Error(`${method} ${target}: ${answer.status} ${answer.text.slice(0, 500)}`));
				else resolve(answer);
			});
		});
		sent.on("error", reject);
		sent.end(body);
	});
}

export interface Signed {
	sender?: string;
	secret?: string;
	timestamp?: string;
	path?: string;
	signedBody?: string;
	body?: string | Uint8Array;
	/** Headers over the signed ones; undefined leaves one out. */
	headers?: Record<string, string | undefined>;
}

async function headersOf(target: string, signed: Signed): Promise<Record<string, string>> {
	const { sender = "jstest", timestamp, path = target } = signed;
	const entry = senders[sender as keyof typeof senders];
	const secret = signed.secret ?? (typeof entry === "string" ? entry : (entry?.key ?? "of nobody"));
	const signer = { sender, secret, timestamp };
	const headers = await signedHeaders(path, signed.signedBody ?? signed.body ?? "", signer);
	const all = Object.entries({ ...headers, ...signed.headers });
	return Object.fromEntries(all.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])));
}

export async function write(
	origin: string,
	method: string,
	target: string,
	signed: Signed = {},
): Promise<Answer> {
	const { body } = signed;
	return ask(origin, method, target, { headers: await headersOf(target, signed), body });
}

/** The errors of a refusal. @throws {Error} where the body is not `{"errors": [text, …]}` */
export function errorsOf(answer: Answer): string[] {
	const { errors } = JSON.parse(answer.text) as { errors: unknown };
	if (!Array.isArray(errors) || errors.length === 0 || !errors.every((error) => typeof error === "string")) {
		throw new Error(`not a list of errors: ${answer.text}`);
	}
	return errors;
}
