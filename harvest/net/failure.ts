/**
 * Why a request failed. `connect`: no connection to the host can be made, for any path. `limit`: the host was asked often
 * enough.
 */
export type FailureReason = "address" | "time" | "size" | "redirect" | "connect" | "network" | "limit";

/** A request that was refused or failed. Its message is one line that a publisher understands. */
export class FetchFailure extends Error {
	readonly reason: FailureReason;

	constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
		super(message, options);
		this.name = "FetchFailure";
		this.reason = reason;
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
		const meaning = meanings.get((cause as NodeJS.ErrnoException).code ?? "");
		if (meaning) return new FetchFailure(...meaning, { cause: error });
	}
	return new FetchFailure("network", "cannot be reached, or breaks off", { cause: error });
}

/** Error code of Node, OpenSSL or undici → reason, and a text for publishers: the rest of a sentence about the service. */
const meanings: ReadonlyMap<string, [FailureReason, string]> = new Map([
	["ENOTFOUND", ["connect", "its name does not resolve"]],
	["EAI_AGAIN", ["network", "its name does not resolve now"]],
	["ECONNREFUSED", ["connect", "refuses the connection"]],
	["ECONNRESET", ["network", "breaks the connection off"]],
	["EHOSTUNREACH", ["connect", "cannot be reached"]],
	["ENETUNREACH", ["connect", "cannot be reached"]],
	["ETIMEDOUT", ["connect", "does not accept a connection in time"]],
	["UND_ERR_CONNECT_TIMEOUT", ["connect", "does not accept a connection in time"]],
	["UND_ERR_SOCKET", ["network", "breaks the connection off"]],
	["CERT_HAS_EXPIRED", ["network", "has a certificate that has expired"]],
	["DEPTH_ZERO_SELF_SIGNED_CERT", ["network", "has a certificate that no known authority signed"]],
	["SELF_SIGNED_CERT_IN_CHAIN", ["network", "has a certificate that no known authority signed"]],
	["UNABLE_TO_VERIFY_LEAF_SIGNATURE", ["network", "has a certificate that no known authority signed"]],
	["ERR_TLS_CERT_ALTNAME_INVALID", ["network", "has a certificate of another name"]],
]);
