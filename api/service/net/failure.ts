import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import { type Cause, type CauseCode, causeOf, causeText } from "../../../registry/health.ts";

/** In a public range, but it answers only inside Azure's network. */
const azureMetadata = "168.63.129.16";

/** RFC 4291, section 2.4. Old forms of IPv4 in IPv6, such as `::127.0.0.1`, are outside of it. */
const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Not private, loopback, link-local, carrier-grade NAT, multicast, reserved or a metadata service, in any
 * spelling, nor an IPv6 address that contains such an IPv4 address.
 */
export function isPublicAddress(text: string): boolean {
	if (!ipaddr.isValid(text)) return false;
	const address = ipaddr.process(text);
	if (address.range() !== "unicast") return false;
	if (address.kind() === "ipv6") return (address as ipaddr.IPv6).match(globalUnicast);
	return address.toString() !== azureMetadata;
}

export function checkLiteral(host: string): void {
	const text = host.replace(/^\[|\]$/g, "");
	if (ipaddr.isValid(text) && !isPublicAddress(text)) throw addressRefused(host);
}

function addressRefused(host: string): FetchFailure {
	return new FetchFailure("address", causeOf("not-public", host));
}

export type Resolve = (
	host: string,
	options: LookupOptions,
	done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

const resolveByDns: Resolve = (host, options, done) =>
	lookup(host, { ...options, all: true }, (error, addresses) => done(error, addresses));

type LookupDone = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Refuses a name if one of its addresses is not public. The connection uses the checked addresses: a second
 * resolution could return others (DNS rebinding).
 */
export function createLookup(resolve: Resolve = resolveByDns) {
	return (host: string, options: LookupOptions, done: LookupDone): void => {
		resolve(host, options, (error, addresses) => {
			const [first] = addresses ?? [];
			if (error || !first) return done(error ?? new Error(`${host} has no address`), []);
			if (!addresses.every(({ address }) => isPublicAddress(address))) {
				return done(addressRefused(host), []);
			}
			if (options.all) return done(null, addresses);
			done(null, first.address, first.family);
		});
	};
}

/** `connect`: for any path of the host. `limit`: the host was asked often enough. */
export type FailureReason = "address" | "time" | "size" | "redirect" | "connect" | "network" | "limit";

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

export function toFailure(error: unknown, signal: AbortSignal): unknown {
	if (error instanceof FetchFailure) return error;
	if (signal.aborted) return signal.reason;
	for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
		if (cause instanceof FetchFailure) return cause;
		const [reason, code] = meanings.get((cause as NodeJS.ErrnoException).code ?? "") ?? [];
		if (reason && code) return new FetchFailure(reason, causeOf(code), { cause: error });
	}
	return new FetchFailure("network", causeOf("unreachable"), { cause: error });
}

const meanings: ReadonlyMap<string, readonly [FailureReason, CauseCode]> = new Map([
	["ENOTFOUND", ["connect", "name-unknown"]],
	["EAI_AGAIN", ["network", "name-unknown"]],
	["ECONNREFUSED", ["connect", "refused"]],
	["ECONNRESET", ["network", "broken-off"]],
	["EHOSTUNREACH", ["connect", "unreachable"]],
	["ENETUNREACH", ["connect", "unreachable"]],
	["ETIMEDOUT", ["connect", "unreachable"]],
	["UND_ERR_CONNECT_TIMEOUT", ["connect", "unreachable"]],
	["UND_ERR_SOCKET", ["network", "broken-off"]],
	["CERT_HAS_EXPIRED", ["network", "certificate"]],
	["DEPTH_ZERO_SELF_SIGNED_CERT", ["network", "certificate"]],
	["SELF_SIGNED_CERT_IN_CHAIN", ["network", "certificate"]],
	["UNABLE_TO_VERIFY_LEAF_SIGNATURE", ["network", "certificate"]],
	["ERR_TLS_CERT_ALTNAME_INVALID", ["network", "certificate"]],
]);
