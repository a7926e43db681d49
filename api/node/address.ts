import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of addresses whose `X-Forwarded-For` is trusted. */
export type TrustedProxies = readonly [Address, number][];

/** Shortest prefixes of a range, in bits: a wider range would be half the internet. */
const minPrefix = { ipv4: 8, ipv6: 16 } as const;
/** Longest part of an `X-Forwarded-For` that is read, from its end, in characters: proxies add their part at the end. */
const maxForwardedLength = 8_192;

/**
 * Reads `TRUSTED_PROXIES`: addresses and ranges with commas between them, such as `127.0.0.1,10.1.0.0/16`.
 * @returns the ranges, or what is wrong as a text
 */
export function parseTrustedProxies(text: string): TrustedProxies | string {
	const ranges: [Address, number][] = [];
	for (const part of text.split(",").map((one) => one.trim())) {
		const range = parseRange(part);
		if (!range) return `must be addresses or ranges such as 127.0.0.1,10.1.0.0/16, not ${part || "nothing"}`;
		const [address, prefix] = range;
		const least = minPrefix[address.kind()];
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
		// The same range as IPv4: a connection's address is written so, too.
		return prefix < 96 ? [address, 0] : [(address as ipaddr.IPv6).toIPv4Address(), prefix - 96];
	}
	const address = parseAddress(text);
	return address && [address, address.kind() === "ipv4" ? 32 : 128];
}

/** An address without its zone; one of IPv4 that is written as IPv6 as IPv4. */
function parseAddress(text: string): Address | null {
	const plain = text.split("%", 1)[0] as string;
	const isAddress = ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain);
	return isAddress ? ipaddr.process(plain) : null;
}

/** Whom a request comes from. */
export interface Client {
	/** The connection's address, or the one that trusted proxies have handed on. */
	address: string;
	/**
	 * What the writes of that address are counted as: itself, or with IPv6 its network of 64 bits, which one client has
	 * to itself; null for this machine itself, whose writes are not limited unless a proxy has handed them on: it may have
	 * another proxy in front of it that does not name its clients.
	 */
	counted: string | null;
}

/** The client of a request; to be asked before its connection ends, which has no address afterwards. */
export function clientOf(request: IncomingMessage, trusted: TrustedProxies): Client {
	const connected = request.socket.remoteAddress ?? "";
	const forwarded = trusted.length > 0 ? request.headers["x-forwarded-for"] : undefined;
	const peer = parseAddress(connected);
	if (typeof forwarded !== "string" || !peer)
		return { address: connected, counted: countedAs(connected, false) };
	const address = behind(peer, forwarded, trusted).toString();
	return { address, counted: countedAs(address, true) };
}

/** The first address from the connection's end on that is not a trusted proxy's. */
function behind(peer: Address, forwarded: string, trusted: TrustedProxies): Address {
	const named = forwarded.slice(-maxForwardedLength).split(",");
	// What was cut is no address.
	if (forwarded.length > maxForwardedLength) named.shift();
	let client = peer;
	while (named.length > 0 && isTrusted(client, trusted)) {
		const next = parseAddress(withoutPort((named.pop() as string).trim()));
		// What another machine says of its own loopback address is no address here; a proxy on this machine has one.
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
