import type { Environment, Io } from "../../api/configuration.ts";
import { askService, errorsOf } from "../../api/service/github.ts";
import { counted, plain, tryJson } from "../../registry/untrusted-text.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { findSecret, type PublisherRequest, type SignedRequest, signWith } from "./request.ts";

/** For the whole answer: a service may wait for git, or for GitHub. */
const sendTimeoutMs = 120_000;

export interface SendResult {
	/** 1 if the service refuses the request, 2 if it cannot serve it now. */
	code: number;
	/** Of an accepted request. */
	receipt: unknown;
	/** The receipt or the errors, for a person. */
	lines: string[];
	/** The service's time, if it refuses the time of the request. */
	serviceTime: Date | null;
}

/** Prints the receipt or the errors. @returns exit code @throws like `exchange` */
export async function sendRequest(
	request: PublisherRequest,
	environment: Environment,
	io: Io,
): Promise<number> {
	const { code, lines } = await createSend(environment, io)(request);
	for (const line of lines) code === exitCodes.done ? io.print(line) : io.warn(line);
	return code;
}

/**
 * How far this machine's clock may be off: a service must not make it sign requests that are valid next year.
 */
const maxClockErrorMs = 86_400_000;

/**
 * Smaller changes of the difference are not printed: many requests of a batch are refused at the same time.
 */
const notedErrorMs = 10_000;

/**
 * If the service refuses the time of a request, that one is signed again with the service's time, as are all
 * later ones.
 */
export function createSend(environment: Environment, io: Io) {
	let aheadMs = 0;
	return async (request: PublisherRequest): Promise<SendResult> => {
		const key = await findSecret(request.sender ?? null, environment, io);
		const send = async () => exchange(await signWith(key, request, new Date(io.now().getTime() + aheadMs)));
		const result = await send();
		if (result.serviceTime === null) return result;
		const differenceMs = result.serviceTime.getTime() - io.now().getTime();
		if (Math.abs(differenceMs) > maxClockErrorMs) return result;
		const isNoted = Math.abs(differenceMs - aheadMs) < notedErrorMs;
		aheadMs = differenceMs;
		if (!isNoted) io.warn(clockText(differenceMs));
		return send();
	};
}

function clockText(differenceMs: number): string {
	const seconds = counted(Math.round(Math.abs(differenceMs) / 1_000), "second");
	const side = differenceMs > 0 ? "behind" : "ahead of";
	return `this machine's clock is ${seconds} ${side} the service's: signed again with the service's time`;
}

/** @throws {Error} if nothing answers, or the answer is not a service's */
export async function exchange(request: SignedRequest, timeoutMs = sendTimeoutMs): Promise<SendResult> {
	const { method, body, smallkey, ifMatch, reviewName } = request;
	const address = new URL(request.url).origin + request.target;
	const unsigned = {
		...(ifMatch !== undefined && { "If-Match": ifMatch }),
		...(reviewName !== undefined && { Review: reviewName }),
	};
	const headers = { ...request.headers, "Content-Type": "application/json", ...unsigned };
	const content = body.length > 0 && { body: body as Uint8Array<ArrayBuffer> };
	const answer = await askService(address, timeoutMs, { method, headers, ...content });
	if (answer.ok) {
		const receipt = tryJson(answer.text);
		if (answer.text !== "" && receipt === null) throw new Error(`${address}: its answer is not a receipt`);
		const etag = answer.etag !== null && { etag: answer.etag };
		const shown = JSON.stringify({ ...(receipt as object), ...etag }, null, 2);
		const text = answer.text === "" ? `${answer.status} ${smallkey}` : shown;
		return { code: exitCodes.done, receipt, lines: text.split("\n").map(plain), serviceTime: null };
	}
	const { hint } = (tryJson(answer.text) ?? {}) as { hint?: unknown };
	const errors = errorsOf(answer);
	const isLate = answer.status === 401 && errors[0]?.startsWith("TimeStamp: ");
	const serviceTime = isLate ? answer.date : null;
	const texts = [...errors, ...(typeof hint === "string" ? [hint] : [])];
	// A foreign line must not begin like a command of a CI runner, such as `::error::`.
	const messages = texts.flatMap((text) => plain(text).split("\n")).map((line) => `the service: ${line}`);
	const isBusy = answer.status >= 500 || answer.status === 429;
	const code = isBusy ? exitCodes.unable : exitCodes.wrong;
	return { code, receipt: null, serviceTime, lines: [`${answer.status} from ${address}`, ...messages] };
}
