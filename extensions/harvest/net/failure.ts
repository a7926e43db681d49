import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import { type Cause, type CauseCode, causeOf, causeText } from "../../../site/data/health.ts";

/** Public, but inside Azure's network only. */
const azureMetadata = "168.63.129.16";

/** RFC 4291, section 2.4; without IPv4 in old forms, such as `::127.0.0.1`. */
const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Not private, loopback, link-local, carrier-grade NAT, multicast, reserved or a metadata service, in any
 * spelling, nor an IPv6 address with such an IPv4 address.
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

const resolveByDns: Resolve = (host, options, done) => lookup(host, { ...options, all: true }, done);

type LookupDone = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * Refuses a name with an address that is not public. The connection uses the checked addresses: another
 * resolution could differ (DNS rebinding).
 */
export function createLookup(resolve: Resolve = resolveByDns) {
	return (host: string, options: LookupOptions, done: LookupDone): void => {
		resolve(host, options, (error, addresses) => {
			const [first] = addresses ?? [];
			if (error || !first) return done(error ?? new Error(`${host} has no address`), []);
			if (!addresses.every(({ address }) => isPublicAddress(address))) done(addressRefused(host), []);
			else if (options.all) done(null, addresses);
			else done(null, first.address, first.family);
		});
	};
}

/** `connect`: the host has failed. `limit`: it was asked often enough. */
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

export function toFailure(error: unknown, signal: AbortSignal, timeoutMs: number): unknown {
	if (error instanceof FetchFailure) return error;
	if (signal.aborted) return signal.reason;
	for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
		if (cause instanceof FetchFailure) return cause;
		const { code = cause.message } = cause as NodeJS.ErrnoException;
		const [, reason, what] = meanings.find(([codes]) => codes.test(code)) ?? [];
		const values = reason === "time" ? [timeoutMs / 1000] : [];
		if (reason && what) return new FetchFailure(reason, causeOf(what, ...values), { cause: error });
	}
	return new FetchFailure("network", causeOf("unreachable"), { cause: error });
}

/** Codes of Node and undici, whose errors of redirects have messages only. */
const meanings: readonly (readonly [codes: RegExp, FailureReason, CauseCode])[] = [
	[/^ENOTFOUND$/, "connect", "name-unknown"],
	[/^EAI_AGAIN$/, "network", "name-unknown"],
	[/^ECONNREFUSED$/, "connect", "refused"],
	[/^(?:E(?:HOST|NET)UNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "connect", "unreachable"],
	[/^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/, "time", "slow"],
	[/^(?:redirect count exceeded|ERR_INVALID_URL|URL scheme must|cross origin not)/, "redirect", "redirects"],
	[/CERT|LEAF_SIGNATURE/, "network", "certificate"],
];
