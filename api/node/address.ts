import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import type { Client } from "../room.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of addresses whose `X-Forwarded-For` is trusted, each with the length of its prefix in bits. */
export type TrustedProxies = [Address, number][];

/** Shortest prefix of a range, in bits: a wider range would include a large part of the internet. */
const minPrefixBits = { ipv4: 8, ipv6: 16 } as const;
/** Most characters of an `X-Forwarded-For` that are read, from its end, where proxies add their part. */
const maxForwardedLength = 8_192;

/**
 * Parses `TRUSTED_PROXIES`: addresses and ranges separated by commas, such as `127.0.0.1,10.1.0.0/16`.
 * @returns the ranges, or an error as a text
 */
export function parseTrustedProxies(text: string): TrustedProxies | string {
	const ranges: TrustedProxies = [];
	for (const part of text.split(",").map((one) => one.trim())) {
		const [plain = "", bits] = part.split("/", 2);
		const address = parseAddress(plain);
		if (!address || (bits !== undefined && !ipaddr.isValidCIDR(part)))
			return `must be addresses or ranges such as 127.0.0.1,10.1.0.0/16, not ${part || "nothing"}`;
		const kind = address.kind();
		// The prefix of an IPv4-mapped range of IPv6 begins with 96 bits that its address of IPv4 does not have.
		const mappedBits = kind === "ipv4" && plain.includes(":") ? 96 : 0;
		const prefix = bits === undefined ? address.toByteArray().length * 8 : Number(bits) - mappedBits;
		const least = minPrefixBits[kind];
		if (prefix < least) return `must not trust everybody: ${part} is wider than /${least}`;
		ranges.push([address, prefix]);
	}
	return ranges;
}

/** Parses an address without its zone; an IPv4-mapped address of IPv6 becomes one of IPv4. */
function parseAddress(text: string): Address | null {
	const plain = text.split("%", 1)[0] as string;
	// Short spellings such as 10.1 are a mistake.
	const isAddress = ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain);
	return isAddress ? ipaddr.process(plain) : null;
}

/**
 * The client that sent a request. Call it before the connection ends: a closed connection has no address.
 * @returns `address`: that of the connection, or the one that trusted proxies have forwarded. `counted`: the address for the
 * limit of writes: with IPv6 the network of 64 bits, since one client has a whole network; null for a connection from this
 * machine without a forwarded address, whose writes are not limited: it may be a proxy that does not name its clients.
 * `shares`: the client for rooms that clients share
 */
export function clientOf(request: IncomingMessage, trusted: TrustedProxies) {
	const address = request.socket.remoteAddress ?? "";
	const peer = parseAddress(address);
	if (!peer) return { address, counted: address, shares: [{ name: address, parts: addressParts }] };
	const forwarded = trusted.length > 0 ? request.headers["x-forwarded-for"] : undefined;
	if (typeof forwarded !== "string")
		return isLoopback(peer) ? { address, counted: null, shares: [] } : { address, ...limitedAs(peer) };
	const client = findClient(peer, forwarded, trusted);
	return { address: client.toString(), ...limitedAs(client) };
}

/** An address has an eighth of a room; all networks of 64 bits in one of 48, which is what a site gets (RFC 6177), a quarter. */
const addressParts = 8;
const siteParts = 4;

function limitedAs(client: Address): { counted: string; shares: Client } {
	const counted = networkOf(client, 64);
	const own = { name: counted, parts: addressParts };
	if (client.kind() === "ipv4") return { counted, shares: [own] };
	return { counted, shares: [own, { name: `${networkOf(client, 48)}/48`, parts: siteParts }] };
}

/** Accepts a host name or an address, with or without a port. */
const hostPattern = /^(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * The origin at which the client sees the service: `https://layers.example.ca`. Null if the request does not say it: a
 * proxy that is not trusted has forwarded it, or a trusted one without `X-Forwarded-Proto`.
 */
export function originOf({ headers, socket }: IncomingMessage, trusted: TrustedProxies): string | null {
	const { host = "", "x-forwarded-proto": scheme } = headers;
	if (!hostPattern.test(host) || !URL.canParse(`http://${host}`)) return null;
	const isForwarded = ["x-forwarded-for", "x-forwarded-proto", "forwarded", "via"].some(
		(name) => headers[name],
	);
	if (!isForwarded) return `http://${host}`;
	const peer = parseAddress(socket.remoteAddress ?? "");
	const isTrusted = peer !== null && ipaddr.subnetMatch(peer, { trusted }, "") === "trusted";
	return isTrusted && (scheme === "http" || scheme === "https") ? `${scheme}://${host}` : null;
}

/** Goes from the connection's address back through `X-Forwarded-For`, to the first address that is no trusted proxy's. */
function findClient(peer: Address, forwarded: string, trusted: TrustedProxies): Address {
	const named = forwarded.slice(-maxForwardedLength).split(",");
	// The first part may be cut.
	if (forwarded.length > maxForwardedLength) named.shift();
	let client = peer;
	while (named.length > 0 && ipaddr.subnetMatch(client, { trusted }, "") === "trusted") {
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

/** An address of IPv4, or the network of one of IPv6. */
function networkOf(address: Address, bits: number): string {
	const isIpv4 = address.kind() === "ipv4";
	return isIpv4 ? `${address}` : `${ipaddr.IPv6.networkAddressFromCIDR(`${address}/${bits}`)}`;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711` without the port. */
function withoutPort(text: string): string {
	const match = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text);
	return match?.[1] ?? match?.[2] ?? text;
}
