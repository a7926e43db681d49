import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError } from "commander";
import type { Environment, Io } from "../../api/configuration.ts";
import { parseSenders, sign } from "../../api/senders.ts";
import { askService, errorsOf } from "../../api/service/net/ask.ts";
import { sendersPath } from "../../api/service/senders-file.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { counted, plain, shortened, tryJson, visible } from "../../registry/untrusted-text.ts";
import { readTextIfThere } from "../../store/files/files.ts";
import { exitCodes, parseUrl } from "../terminal/command-line.ts";

interface PublisherRequest {
	method: string;
	smallkey: string;
	body: Uint8Array;
	url: string;
	/** By default the first sender of the senders file. */
	sender?: string | undefined;
	ifMatch?: string | undefined;
	reviewName?: string | undefined;
}

type SignedRequest = Awaited<ReturnType<typeof signWith>>;

export function requestLine(line: Command) {
	return requestOptions(line.argument("<smallkey>", "the layer"));
}

export const ifMatchOption = [
	"--if-match <etag>",
	"only if the registration still has this ETag, as a receipt or the status names it",
	parseEtag,
] as const;

/** A shell may have removed its quotes. */
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

export interface SenderKey {
	sender: string;
	secret: string;
}

/** Specification, "Request headers". `target`: the path of the service's address, then `/register/23ax5t`. */
export async function signWith({ sender, secret }: SenderKey, request: PublisherRequest, time: Date) {
	const timestamp = time.toISOString();
	const base = new URL(request.url).pathname.replace(/(?<!\/)\/+$/, "");
	const segment = encodeURIComponent(request.smallkey).replaceAll("%2B", "+").replaceAll("%3D", "=");
	const target = `${base}/register/${segment}`;
	const signature = await sign(secret, { path: target, sender, timestamp, body: request.body });
	return { ...request, target, headers: { Authorization: signature, TimeStamp: timestamp, Sender: sender } };
}

/**
 * From `SENDER_SECRET`, `SENDERS` or the senders file of `DATA_DIR`, or typed at the terminal.
 * @throws {Error} if there is no such sender
 */
export async function findSecret(id: string | null, environment: Environment, io: Io): Promise<SenderKey> {
	if (environment.SENDER_SECRET) {
		if (id === null) throw new Error("--sender: is needed with SENDER_SECRET");
		if (/[\r\n]$/.test(environment.SENDER_SECRET))
			throw new Error("SENDER_SECRET: ends with a line break, which is no part of a secret");
		return { sender: id, secret: environment.SENDER_SECRET };
	}
	const place = environment.SENDERS ? "SENDERS" : sendersPath(readConfiguration(environment).dataDir);
	const text = environment.SENDERS || (await readTextIfThere(place));
	const senders = text === null ? null : parseSenders(text, place);
	const sender = id === null ? senders?.values().next().value : senders?.get(id);
	if (sender) return { sender: sender.id, secret: sender.secret };
	const answer = id === null ? null : await io.ask(`Secret of ${id}: `, true);
	if (id !== null && answer) return { sender: id, secret: answer };
	const missing = senders ? `has no sender ${id ?? ""}`.trimEnd() : "is not there";
	throw new Error(`${place}: ${missing}; set SENDER_SECRET, or DATA_DIR to that of the service`);
}

const maxBodyLength = 400;

/** For a person whose own client gets 401. Without the secret. */
export function explain(request: SignedRequest): string[] {
	const { headers, method, body, target } = request;
	const shown = shortened(visible(new TextDecoder().decode(body)), maxBodyLength);
	const parts = [target, headers.Sender, headers.TimeStamp, shown];
	return [
		"What is signed: path, sender, timestamp and body, joined without the signs ‹ and ›. Control characters are",
		"spelled out here:",
		"",
		`  ${parts.map((part) => `‹${part}›`).join("")}`,
		"",
		`What is sent, with the body of ${counted(body.length, "byte")}:`,
		"",
		`  ${method} ${target} HTTP/1.1`,
		...Object.entries(headers).map(([name, text]) => `  ${name}: ${text}`),
	];
}

/** For the whole answer: a service may wait for git, or for GitHub. */
const sendTimeoutMs = 120_000;

export interface SendResult {
	code: number;
	receipt: unknown;
	lines: string[];
	/** Of the service, if it refused the request's time; in milliseconds since 1970. */
	serviceMs?: number | undefined;
}

export async function sendRequest(
	request: PublisherRequest,
	environment: Environment,
	io: Io,
): Promise<number> {
	const key = await findSecret(request.sender ?? null, environment, io);
	const { code, lines } = await createSend(key, io)(request);
	for (const line of lines) code === exitCodes.done ? io.print(line) : io.warn(line);
	return code;
}

/** A service must not make this machine sign requests that are valid next year. */
const maxClockErrorMs = 86_400_000;

/** After a refused time, it signs with the service's time, also the requests that follow. */
export function createSend(key: SenderKey, io: Io) {
	let aheadMs = 0;
	return async (request: PublisherRequest): Promise<SendResult> => {
		const send = async () => exchange(await signWith(key, request, new Date(io.now().getTime() + aheadMs)));
		const result = await send();
		const differenceMs = (result.serviceMs ?? Number.NaN) - io.now().getTime();
		if (!(Math.abs(differenceMs) < maxClockErrorMs)) return result;
		if (aheadMs === 0)
			io.warn("this machine's clock is not the service's: signed again with the service's time");
		aheadMs = differenceMs;
		return send();
	};
}

async function exchange(request: SignedRequest): Promise<SendResult> {
	const { method, body, smallkey, ifMatch, reviewName, headers: signature } = request;
	const address = new URL(request.url).origin + request.target;
	const headers = {
		...signature,
		"Content-Type": "application/json",
		...(ifMatch !== undefined && { "If-Match": ifMatch }),
		...(reviewName !== undefined && { Review: reviewName }),
	};
	const content = body.length > 0 && { body: body as Uint8Array<ArrayBuffer> };
	const answer = await askService(address, sendTimeoutMs, { method, headers, ...content });
	if (answer.ok) {
		const receipt = tryJson(answer.text);
		if (answer.text !== "" && receipt === null) throw new Error(`${address}: its answer is not a receipt`);
		const etag = answer.etag !== null && { etag: answer.etag };
		const shown = JSON.stringify({ ...(receipt as object), ...etag }, null, 2);
		const text = answer.text === "" ? `${answer.status} ${smallkey}` : shown;
		return { code: exitCodes.done, receipt, lines: text.split("\n").map(plain) };
	}
	const { hint } = (tryJson(answer.text) ?? {}) as { hint?: unknown };
	const errors = errorsOf(answer);
	const texts = typeof hint === "string" ? [...errors, hint] : errors;
	// A foreign line must not begin like a command of a CI runner, such as `::error::`.
	const messages = texts.map((text) => `the service: ${plain(text)}`);
	const isBusy = answer.status >= 500 || answer.status === 429;
	const code = isBusy ? exitCodes.unable : exitCodes.wrong;
	const isLate = answer.status === 401 && errors[0]?.startsWith("TimeStamp: ");
	const serviceMs = isLate ? Date.parse(answer.date ?? "") : undefined;
	return { code, receipt: null, serviceMs, lines: [`${answer.status} from ${address}`, ...messages] };
}
