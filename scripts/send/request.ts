import type { Command } from "@commander-js/extra-typings";
import type { Environment, Io } from "../../api/configuration.ts";
import { findSenders, sendersPath } from "../../api/service/senders-file.ts";
import { readConfiguration } from "../../api/service/settings.ts";
import { sign } from "../../api/signature.ts";
import { plain, tryJson } from "../../registry/untrusted.ts";
import { exitCodes, parser, parseUrl } from "../terminal/command-line.ts";
import { errorsOf, fetchText } from "./ask.ts";

export interface PublisherRequest {
	smallkey: string;
	/** Null removes the layer. */
	body: Uint8Array | null;
	url: string;
	ifMatch?: string | undefined;
	reviewName?: string | undefined;
}

export type SignedRequest = Awaited<ReturnType<typeof signWith>>;

export const ifMatchOption = [
	"--if-match <etag>",
	"only if the registration still has this ETag, as a receipt or the status names it",
	parser((text) => {
		// A shell may have removed its quotes.
		const [, id] = /^(?:W\/)?"?([0-9a-f]{40})"?$/.exec(text) ?? [];
		return id ? `"${id}"` : text === "*" ? text : null;
	}, "an ETag, or *."),
] as const;

export function requestOptions<Args extends unknown[]>(line: Command<Args>) {
	return line
		.option("--url <url>", "the service with its base path", parseUrl, "http://127.0.0.1:8080")
		.option("--sender <id>", "who signs (the first of the senders; needed with SENDER_SECRET)")
		.addHelpText(
			"after",
			`
The secret is that of SENDER_SECRET, of SENDERS, or of the senders file in DATA_DIR; at a terminal it is asked for where
none of them has it. Exit codes: 1 where the service refuses, 2 where it does not answer or cannot serve now.`,
		);
}

export type SenderKey = Readonly<Record<"sender" | "secret" | "place", string>>;

/** RCS specification, "Request headers". */
export async function signWith({ sender, secret }: SenderKey, request: PublisherRequest, time: Date) {
	const timestamp = time.toISOString();
	const body = request.body ?? new Uint8Array(0);
	const base = new URL(request.url).pathname.replace(/(?<!\/)\/+$/, "");
	const segment = encodeURIComponent(request.smallkey).replaceAll("%2B", "+").replaceAll("%3D", "=");
	const target = `${base}/register/${segment}`;
	const Authorization = await sign(secret, { path: target, sender, timestamp, body });
	const method = request.body ? "PUT" : "DELETE";
	return { method, target, body, headers: { Authorization, TimeStamp: timestamp, Sender: sender } };
}

/**
 * From `SENDER_SECRET`, `SENDERS`, the senders file or the terminal.
 * @throws {Error} if there is no such sender
 */
export async function findSecret(
	id: string | undefined,
	environment: Environment,
	io: Io,
): Promise<SenderKey> {
	const { SENDER_SECRET: secret, DATA_DIR } = environment;
	if (secret) {
		if (id === undefined) throw new Error("--sender: is needed with SENDER_SECRET");
		if (/[\r\n]$/.test(secret))
			throw new Error("SENDER_SECRET: ends with a line break, which is no part of a secret");
		return { sender: id, secret, place: "SENDER_SECRET" };
	}
	const { dataDir } = readConfiguration({ DATA_DIR });
	const { senders, place } = (await findSenders(environment, dataDir)) ?? { place: sendersPath(dataDir) };
	const sender = id === undefined ? senders?.values().next().value : senders?.get(id);
	if (sender) return { sender: sender.id, secret: sender.secret, place };
	const answer = id && (await io.ask(`Secret of ${id}: `, { isHidden: true }));
	if (id && answer) return { sender: id, secret: answer, place: "your answer" };
	const missing = senders ? `has no sender ${id ?? ""}`.trimEnd() : "is not there";
	throw new Error(`${place}: ${missing}; set SENDER_SECRET, or DATA_DIR to that of the service`);
}

/** A service may wait for git or GitHub. */
const sendTimeoutMs = 120_000;

export async function sendRequest(
	{ sender, ...request }: PublisherRequest & { sender?: string | undefined },
	environment: Environment,
	io: Io,
): Promise<number> {
	const send = createSend(await findSecret(sender, environment, io), io);
	const { code, lines } = await send(request);
	for (const line of lines) code === exitCodes.done ? io.print(line) : io.warn(line);
	return code;
}

/** A service must not make this machine sign requests that are valid next year. */
const maxClockErrorMs = 86_400_000;

/** After a refused time, signs with the service's time. */
export function createSend(key: SenderKey, io: Io) {
	let aheadMs = 0;
	return async (request: PublisherRequest) => {
		const send = () => exchange(request, key, new Date(io.now().getTime() + aheadMs));
		const result = await send();
		const differenceMs = result.serviceMs - io.now().getTime();
		if (!(Math.abs(differenceMs) < maxClockErrorMs)) return result;
		if (aheadMs === 0)
			io.warn("this machine's clock is not the service's: signed again with the service's time");
		aheadMs = differenceMs;
		return send();
	};
}

/** `retryMs`: what the service asks to wait, or 0. `serviceMs`: its clock, if it refused the time; else NaN. */
async function exchange(request: PublisherRequest, key: SenderKey, time: Date) {
	const { url, smallkey, ifMatch, reviewName } = request;
	const { method, body, target, headers: signed } = await signWith(key, request, time);
	const address = new URL(url).origin + target;
	const headers = {
		...signed,
		"Content-Type": "application/json",
		...(ifMatch !== undefined && { "If-Match": ifMatch }),
		...(reviewName !== undefined && { Review: reviewName }),
	};
	const content = body.length > 0 && { body: body as Uint8Array<ArrayBuffer> };
	const answer = await fetchText(address, sendTimeoutMs, { method, headers, ...content });
	const { ok, status, text, etag, retryMs } = answer;
	const value = tryJson(text);
	if (ok) {
		if (text !== "" && value === null) throw new Error(`${address}: its answer is not a receipt`);
		const receipt = { ...(value as object), ...(etag !== null && { etag }) };
		const lines = text === "" ? [`${status} ${smallkey}`] : JSON.stringify(receipt, null, 2).split("\n");
		return { code: exitCodes.done, receipt, lines: lines.map(plain), retryMs, serviceMs: Number.NaN };
	}
	const errors = errorsOf(answer);
	// No foreign line may begin like a CI runner's command, such as `::error::`.
	const lines = [`${status} from ${address}`, ...errors.map((line) => `the service: ${plain(line)}`)];
	const code = status >= 500 || status === 429 ? exitCodes.unable : exitCodes.wrong;
	const isLate = status === 401 && errors[0]?.startsWith("TimeStamp: ");
	if (status === 401 && !isLate) lines.push(`signed with the secret of ${key.sender} in ${key.place}`);
	const serviceMs = isLate ? Date.parse(answer.date ?? "") : Number.NaN;
	return { code, receipt: null, lines, retryMs, serviceMs };
}
