import { type Cause, type CauseCode, causeOf, causeText } from "../../../registry/causes.ts";

/**
 * Why a request failed. `connect`: no connection to the host can be made, for any path. `limit`: the host was asked often
 * enough.
 */
export type FailureReason = "address" | "time" | "size" | "redirect" | "connect" | "network" | "limit";

/** A request that was refused or failed. Its message is one line that a publisher understands. */
export class FetchFailure extends Error {
	override readonly name = "FetchFailure";

	constructor(
		readonly reason: FailureReason,
		readonly what: Cause,
		options?: ErrorOptions,
	) {
		super(causeText("en", what), options);
	}
}

/**
 * Converts an error of a request to a `FetchFailure`.
 * @param signal the request's own signal; if it has aborted, its reason is returned
 */
export function toFailure(error: unknown, signal: AbortSignal): unknown {
	if (error instanceof FetchFailure) return error;
	if (signal.aborted) return signal.reason;
	for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
		if (cause instanceof FetchFailure) return cause;
		const [reason, code] = meanings.get((cause as NodeJS.ErrnoException).code ?? "") ?? [];
		if (reason && code) return new FetchFailure(reason, causeOf(code), { cause: error });
	}
	return new FetchFailure("network", causeOf("network"), { cause: error });
}

/** Error code of Node, OpenSSL or undici → reason, and what publishers read. */
const meanings: ReadonlyMap<string, readonly [FailureReason, CauseCode]> = new Map([
	["ENOTFOUND", ["connect", "name-unknown"]],
	["EAI_AGAIN", ["network", "name-unknown-now"]],
	["ECONNREFUSED", ["connect", "refused"]],
	["ECONNRESET", ["network", "broken-off"]],
	["EHOSTUNREACH", ["connect", "unreachable"]],
	["ENETUNREACH", ["connect", "unreachable"]],
	["ETIMEDOUT", ["connect", "connect-slow"]],
	["UND_ERR_CONNECT_TIMEOUT", ["connect", "connect-slow"]],
	["UND_ERR_SOCKET", ["network", "broken-off"]],
	["CERT_HAS_EXPIRED", ["network", "certificate-expired"]],
	["DEPTH_ZERO_SELF_SIGNED_CERT", ["network", "certificate-unsigned"]],
	["SELF_SIGNED_CERT_IN_CHAIN", ["network", "certificate-unsigned"]],
	["UNABLE_TO_VERIFY_LEAF_SIGNATURE", ["network", "certificate-unsigned"]],
	["ERR_TLS_CERT_ALTNAME_INVALID", ["network", "certificate-other"]],
]);
