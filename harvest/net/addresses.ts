import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import ipaddr from "ipaddr.js";
import { FetchFailure } from "./failure.ts";

/** Azure's metadata and DNS address: it is in a public range, but answers only inside the network. */
const azureMetadata = "168.63.129.16";

/** Global unicast (RFC 4291, section 2.4): outside it are the old IPv4-in-IPv6 forms, such as `::127.0.0.1`. */
const globalUnicast = ipaddr.parseCIDR("2000::/3") as [ipaddr.IPv6, number];

/**
 * Whether an IP address, in any of its spellings, is one of the public internet: not private, loopback, link-local,
 * carrier-grade NAT, multicast, reserved or a metadata service, also not such an address inside an IPv6 one.
 */
export function isPublicAddress(text: string): boolean {
	if (!ipaddr.isValid(text)) return false;
	const address = ipaddr.process(text);
	if (address.range() !== "unicast") return false;
	if (address.kind() === "ipv6") return (address as ipaddr.IPv6).match(globalUnicast);
	return address.toString() !== azureMetadata;
}

/** The IP address that a URL's host is, without brackets; null if it is a name. */
export function literalAddress(host: string): string | null {
	const text = host.replace(/^\[|\]$/g, "");
	return ipaddr.isValid(text) ? text : null;
}

/** The refusal of an address that may not be asked. */
export function addressRefused(host: string): FetchFailure {
	return new FetchFailure("address", `${host} is not an address of the public internet`);
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
 * A `lookup` for `net.connect` that refuses a name as soon as one of its addresses is not public: what was checked is
 * what is connected to, so a name cannot answer one address to the check and another to the connection.
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
