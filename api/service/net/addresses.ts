import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import { causeOf } from "../../../registry/causes.ts";
import { FetchFailure } from "./failure.ts";

/** Azure's metadata and DNS address: it is in a public range, but answers only inside Azure's network. */
const azureMetadata = "168.63.129.16";

/** Global unicast (RFC 4291, section 2.4). The old forms of IPv4 in IPv6, such as `::127.0.0.1`, are outside of it. */
const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Whether an IP address, in any of its spellings, is a public one: not private, loopback, link-local, carrier-grade NAT,
 * multicast, reserved or a metadata service, and not an IPv6 address that contains such an IPv4 address.
 */
export function isPublicAddress(text: string): boolean {
	if (!ipaddr.isValid(text)) return false;
	const address = ipaddr.process(text);
	if (address.range() !== "unicast") return false;
	if (address.kind() === "ipv6") return (address as ipaddr.IPv6).match(globalUnicast);
	return address.toString() !== azureMetadata;
}

/** @param host of a URL @throws {FetchFailure} if it is an IP address that is not public; a name is accepted */
export function checkLiteral(host: string): void {
	const text = host.replace(/^\[|\]$/g, "");
	if (ipaddr.isValid(text) && !isPublicAddress(text)) throw addressRefused(host);
}

function addressRefused(host: string): FetchFailure {
	return new FetchFailure("address", causeOf("not-public", host));
}

/** Resolves a name to all of its addresses, as `node:dns` does with `all`. */
export type Resolve = (
	host: string,
	options: LookupOptions,
	done: (error: Error | null, addresses: LookupAddress[]) => void,
) => void;

const resolveByDns: Resolve = (host, options, done) =>
	lookup(host, { ...options, all: true }, (error, addresses) => done(error, addresses));

type LookupDone = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/**
 * A `lookup` for `net.connect` that refuses a name if one of its addresses is not public. The connection uses the checked
 * addresses, so a name cannot resolve to one address for the check and to another for the connection (DNS rebinding).
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
