import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of addresses whose `X-Forwarded-For` is trusted. */
export type TrustedProxies = readonly [Address, number][];

/** Shortest prefix of a range, in bits: a wider range would include a large part of the internet. */
const minPrefixBits = { ipv4: 8, ipv6: 16 } as const;
/** Most characters of an `X-Forwarded-For` that are read, from its end, where proxies add their part. */
const maxForwardedLength = 8_192;

/**
 * Parses `TRUSTED_PROXIES`: addresses and ranges separated by commas, such as `127.0.0.1,10.1.0.0/16`.
 * @returns the ranges, or an error as a text
 */
export function parseTrustedProxies(text: string): TrustedProxies | string {
	const ranges: [Address, number][] = [];
	for (const part of text.split(",").map((one) => one.trim())) {
		const range = parseRange(part);
		if (!range) return `must be addresses or ranges such as 127.0.0.1,10.1.0.0/16, not ${part || "nothing"}`;
		const [address, prefix] = range;
		const least = minPrefixBits[address.kind()];
		if (prefix < least) return `must not trust everybody: ${part} is wider than /${least}`;
		ranges.push(range);
	}
	return ranges;
}

function parseRange(text: string): [Address, number] | null {
	// Short spellings such as 10.1/16 are a mistake.
	if (ipaddr.isValidCIDR(text) && parseAddress(text.split("/", 1)[0] as string)) {
		const [address, prefix] = ipaddr.parseCIDR(text);
		if (address.kind() === "ipv4" || !(address as ipaddr.IPv6).isIPv4MappedAddress())
			return [address, prefix];
		// An IPv4-mapped range becomes a range of IPv4, as `parseAddress` converts the address of a connection.
		return prefix < 96 ? [address, 0] : [(address as ipaddr.IPv6).toIPv4Address(), prefix - 96];
	}
	const address = parseAddress(text);
	return address && [address, address.kind() === "ipv4" ? 32 : 128];
}

/** Parses an address without its zone; an IPv4-mapped address of IPv6 becomes one of IPv4. */
function parseAddress(text: string): Address | null {
	const plain = text.split("%", 1)[0] as string;
	const isAddress = ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain);
	return isAddress ? ipaddr.process(plain) : null;
}

/** The client that sent a request. */
export interface Client {
	/** The address of the connection, or the one that trusted proxies have forwarded. */
	address: string;
	/**
	 * The address for the limit of writes: with IPv6 the network of 64 bits, since one client has a whole network. Null for
	 * a connection from this machine without a forwarded address, whose writes are not limited: it may be a proxy that does
	 * not name its clients.
	 */
	counted: string | null;
}

/** The client of a request. Call it before the connection ends: a closed connection has no address. */
export function clientOf(request: IncomingMessage, trusted: TrustedProxies): Client {
	const connected = request.socket.remoteAddress ?? "";
	const forwarded = trusted.length > 0 ? request.headers["x-forwarded-for"] : undefined;
	const peer = parseAddress(connected);
	if (typeof forwarded !== "string" || !peer)
		return { address: connected, counted: countedAs(connected, false) };
	const address = findClient(peer, forwarded, trusted).toString();
	return { address, counted: countedAs(address, true) };
}

/** Goes from the connection's address back through `X-Forwarded-For`, to the first address that is no trusted proxy's. */
function findClient(peer: Address, forwarded: string, trusted: TrustedProxies): Address {
	const named = forwarded.slice(-maxForwardedLength).split(",");
	// The first part may be cut.
	if (forwarded.length > maxForwardedLength) named.shift();
	let client = peer;
	while (named.length > 0 && isTrusted(client, trusted)) {
		const next = parseAddress(withoutPort((named.pop() as string).trim()));
		// A loopback address that another machine forwards is that machine's own; only a proxy on this machine may name one.
		if (!next || (isLoopback(next) && !isLoopback(client))) return client;
		client = next;
	}
	return client;
}

function isLoopback(address: Address): boolean {
	return address.range() === "loopback";
}

function countedAs(text: string, isForwarded: boolean): string | null {
	const address = parseAddress(text);
	if (!address) return text;
	if (isLoopback(address) && !isForwarded) return null;
	return address.kind() === "ipv4"
		? address.toString()
		: ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString();
}

function isTrusted(address: Address, trusted: TrustedProxies): boolean {
	return trusted.some(([range, prefix]) => range.kind() === address.kind() && address.match(range, prefix));
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711` without the port. */
function withoutPort(text: string): string {
	const match = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text);
	return match?.[1] ?? match?.[2] ?? text;
}
