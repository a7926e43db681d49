import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError } from "commander";
import type { Environment, Io } from "../../api/configuration.ts";
import { parseSenders, sign } from "../../api/senders.ts";
import { sendersPath } from "../../api/service/senders-file.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { counted, visible } from "../../registry/untrusted-text.ts";
import { readTextIfThere } from "../../store/files/files.ts";
import { parseUrl } from "../terminal/command-line.ts";

export interface PublisherRequest {
	method: string;
	smallkey: string;
	/** Empty for a removal. */
	body: Uint8Array;
	/** With its base path, without a `/` at the end. */
	url: string;
	/** By default the first sender of the senders file. */
	sender?: string | undefined;
	/** The ETag of the registration that is to be changed, in quotes, or `*`. */
	ifMatch?: string | undefined;
	/** The name under which changes of this sender wait for a reviewer together. */
	reviewName?: string | undefined;
}

/** Specification, "Request headers". */
export interface SignedRequest extends PublisherRequest {
	/** The path of the service's address, then `/register/23ax5t`. */
	target: string;
	headers: Record<"Authorization" | "TimeStamp" | "Sender", string>;
}

export function requestLine(line: Command) {
	return requestOptions(line.argument("<smallkey>", "the layer"));
}

export const ifMatchOption = [
	"--if-match <etag>",
	"only if the registration still has this ETag, as a receipt or the status names it",
	parseEtag,
] as const;

/** An ETag, whose quotes a shell may have removed, or `*`. */
function parseEtag(text: string): string {
	const [, id] = /^(?:W\/)?"?([0-9a-f]{40})"?$/.exec(text) ?? [];
	if (id === undefined && text !== "*") throw new InvalidArgumentError("It must be an ETag, or *.");
	return id === undefined ? text : `"${id}"`;
}

export function requestOptions<Args extends unknown[]>(line: Command<Args>) {
	return line
		.option("--url <url>", "the service with its base path", parseUrl, "http://127.0.0.1:8080")
		.option("--sender <id>", "who signs (the first of the senders)")
		.addHelpText(
			"after",
			`
The secret is that of SENDER_SECRET (then --sender is needed), of SENDERS, or of the senders file in DATA_DIR; at a
terminal it is asked for where none of them has it. Exit codes: 1 where the service refuses, 2 where it does not answer or
cannot serve now.`,
		);
}

/**
 * With a secret from `SENDER_SECRET`, `SENDERS` or the senders file of `DATA_DIR`, or typed at the terminal.
 * @throws {Error} if there is no such sender
 */
export async function signRequest(
	request: PublisherRequest,
	environment: Environment,
	io: Io,
): Promise<SignedRequest> {
	return signWith(await findSecret(request.sender ?? null, environment, io), request, io.now());
}

export async function signWith(
	{ sender, secret }: { sender: string; secret: string },
	request: PublisherRequest,
	time: Date,
): Promise<SignedRequest> {
	const timestamp = time.toISOString();
	const base = new URL(request.url).pathname.replace(/(?<!\/)\/+$/, "");
	const segment = encodeURIComponent(request.smallkey).replaceAll("%2B", "+").replaceAll("%3D", "=");
	const target = `${base}/register/${segment}`;
	const signature = await sign(secret, { path: target, sender, timestamp, body: request.body });
	return { ...request, target, headers: { Authorization: signature, TimeStamp: timestamp, Sender: sender } };
}

/** As `signRequest` finds it. @throws {Error} if there is no such sender */
export async function findSecret(
	id: string | null,
	environment: Environment,
	io: Io,
): Promise<{ sender: string; secret: string }> {
	if (environment.SENDER_SECRET) {
		if (id === null) throw new Error("--sender: is needed with SENDER_SECRET");
		if (/[\r\n]$/.test(environment.SENDER_SECRET))
			throw new Error(
				"SENDER_SECRET: ends with a line break, which is no part of a secret: printf %s writes none",
			);
		return { sender: id, secret: environment.SENDER_SECRET };
	}
	const place = environment.SENDERS ? "SENDERS" : sendersPath(readConfiguration(environment).dataDir);
	const text =
		environment.SENDERS ||
		(await readTextIfThere(place).catch(({ cause }: Error) => {
			throw new Error(`${place}: cannot be read; set SENDER_SECRET, or run this as the service's user`, {
				cause,
			});
		}));
	const senders = text === null ? null : parseSenders(text, place);
	const sender = id === null ? [...(senders?.values() ?? [])][0] : senders?.get(id);
	if (sender) return { sender: sender.id, secret: sender.secret };
	const answer = id === null ? null : await io.ask(`Secret of ${id}: `, true);
	if (id !== null && answer) return { sender: id, secret: answer };
	const missing = senders ? `has no sender ${id ?? ""}`.trimEnd() : "is not there";
	throw new Error(`${place}: ${missing}; set SENDER_SECRET, or DATA_DIR to that of the service`);
}

/** Characters shown of a body. */
const maxBodyLength = 400;

/** For a person whose own client gets 401. The lines do not have the secret. */
export function explain(request: SignedRequest): string[] {
	const { headers, method, body, url, target } = request;
	const bytes = counted(body.length, "byte");
	const text = visible(new TextDecoder().decode(body));
	const shown = text.length <= maxBodyLength ? text : `${text.slice(0, maxBodyLength)}…`;
	const parts = [target, headers.Sender, headers.TimeStamp, shown];
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
