import type { IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import type { Client } from "../limits.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type TrustedProxies = (address: Address) => boolean;

/** In bits; a wider range would trust a large part of the internet. */
const minPrefixBits = { ipv4: 8, ipv6: 16 } as const;
/** From the end, where proxies add their part. */
const maxForwarded = 50;

/** `TRUSTED_PROXIES`: such as `127.0.0.1,10.1.0.0/16`. An error is a text. */
export function parseTrustedProxies(text: string): TrustedProxies | string {
	const trusted: [Address, number][] = [];
	for (const part of text.split(",").map((range) => range.trim())) {
		const [plain = "", bits] = part.split("/", 2);
		const address = parseAddress(plain);
		if (!address || (bits !== undefined && !ipaddr.isValidCIDR(part)))
			return `must be addresses or ranges such as 127.0.0.1,10.1.0.0/16, not ${part || "nothing"}`;
		const kind = address.kind();
		// An IPv4-mapped range of IPv6 begins with 96 bits that an IPv4 address does not have.
		const mappedBits = kind === "ipv4" && plain.includes(":") ? 96 : 0;
		const prefix = bits === undefined ? address.toByteArray().length * 8 : Number(bits) - mappedBits;
		const least = minPrefixBits[kind];
		if (prefix < least) return `must not trust everybody: ${part} is wider than /${least}`;
		trusted.push([address, prefix]);
	}
	return (address) => ipaddr.subnetMatch(address, { trusted }, "") === "trusted";
}

function parseAddress(text: string): Address | null {
	const plain = text.split("%", 1)[0] as string;
	// Short spellings such as 10.1 are a mistake.
	const isAddress = ipaddr.IPv4.isValidFourPartDecimal(plain) || ipaddr.IPv6.isValid(plain);
	return isAddress ? ipaddr.process(plain) : null;
}

/**
 * Call it before the connection ends: a closed connection has no address.
 * @returns `address`: the connection's, or the one that trusted proxies forwarded. `shares`: for limits and
 * rooms; empty for a connection from this machine without a forwarded address: it may be a proxy that does
 * not name its clients
 */
export function clientOf(request: IncomingMessage, isTrusted: TrustedProxies) {
	const address = request.socket.remoteAddress ?? "";
	const peer = parseAddress(address);
	if (!peer) return { address, shares: [address] };
	const forwarded = request.headers["x-forwarded-for"];
	if (typeof forwarded !== "string" || !isTrusted(peer))
		return { address, shares: isLoopback(peer) ? [] : sharesOf(peer) };
	let client = peer;
	for (const part of forwarded.split(",").slice(-maxForwarded).reverse()) {
		const [, bracketed, ipv4] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(part.trim()) ?? [];
		const next = parseAddress(bracketed ?? ipv4 ?? part.trim());
		// Another machine's loopback address is its own.
		if (!next || (isLoopback(next) && !isLoopback(client))) break;
		client = next;
		if (!isTrusted(client)) break;
	}
	return { address: client.toString(), shares: sharesOf(client) };
}

/** With IPv6 the network of 64 bits, since one client has all of it, and that of its site. */
function sharesOf(client: Address): Client {
	const network = (bits: number) => `${ipaddr.IPv6.networkAddressFromCIDR(`${client}/${bits}`)}`;
	return client.kind() === "ipv4" ? [`${client}`] : [network(64), `${network(48)}/48`];
}

/** The characters of a name or an address and its port. */
const hostPattern = /^[\w.:[\]-]{1,261}$/;

export function originOf({ headers, socket }: IncomingMessage, isTrusted: TrustedProxies): string | null {
	const { host = "", "x-forwarded-proto": scheme } = headers;
	if (!hostPattern.test(host) || !URL.canParse(`http://${host}`)) return null;
	const proxied = ["x-forwarded-for", "x-forwarded-proto", "forwarded", "via"];
	if (!proxied.some((name) => headers[name])) return `http://${host}`;
	const peer = parseAddress(socket.remoteAddress ?? "");
	return peer && isTrusted(peer) && (scheme === "http" || scheme === "https") ? `${scheme}://${host}` : null;
}

function isLoopback(address: Address): boolean {
	return address.range() === "loopback";
}
