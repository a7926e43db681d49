import type { IncomingMessage, ServerResponse } from "node:http";
import { finished } from "node:stream";
import ipaddr from "ipaddr.js";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import type { Refusal } from "../../store/store.ts";
import type { Client, Room } from "../limits.ts";
import { emptyBody, type Reply, refuse, tooLarge } from "../reply.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type TrustedProxies = (address: Address) => boolean;

/** A wider range would trust a large part of the internet. */
const minPrefixBits = { ipv4: 8, ipv6: 16 } as const;
/** From the end, where proxies add their part. */
const maxForwarded = 50;

/** `127.0.0.1,10.1.0.0/16`. An error is a text. */
export function parseTrustedProxies(text: string): TrustedProxies | string {
	const trusted: [Address, number][] = [];
	for (const part of text.split(",").map((range) => range.trim())) {
		const [plain = "", bits] = part.split("/", 2);
		const address = parseAddress(plain);
		if (!address || (bits !== undefined && !ipaddr.isValidCIDR(part)))
			return `must be addresses or ranges such as 127.0.0.1,10.1.0.0/16, not ${part || "nothing"}`;
		const kind = address.kind();
		// A range of IPv4-mapped IPv6 has 96 bits more.
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
 * Call it before the connection ends: a closed one has no address.
 * @returns `address`: the connection's, or the one that trusted proxies forwarded. `shares`: for limits;
 * empty for this machine without a forwarded address, which may be a proxy that does not name its clients
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

/** One client has all of an IPv6 network of 64 bits; a site has one of 48. */
function sharesOf(client: Address): Client {
	const network = (bits: number) => `${ipaddr.IPv6.networkAddressFromCIDR(`${client}/${bits}`)}`;
	return client.kind() === "ipv4" ? [`${client}`] : [network(64), `${network(48)}/48`];
}

/** A name or an address, and a port. */
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

/** nginx's status, in the log only: the client has closed the connection. */
const clientGone = 499;

const noRoom: Refusal = { status: 503, errors: [problemAt("", "busy")], retryAfter: 1 };

/** Held for a body that has not begun. */
const leastBodyBytes = 8 * 1024;

/** @param take takes room for bytes that have arrived, not for announced ones @returns a Reply refuses the body */
export async function readBody(
	request: IncomingMessage,
	take: ReturnType<Room["hold"]>["take"],
): Promise<Uint8Array | Reply> {
	if (!take(leastBodyBytes)) return refuse(noRoom);
	const chunks: Uint8Array[] = [];
	let length = 0;
	try {
		for await (const chunk of request.iterator({ destroyOnReturn: false })) {
			length += chunk.length;
			if (length > maxRegistrationBytes) return refuse(tooLarge);
			if (!take(chunk.length)) return refuse(noRoom);
			chunks.push(chunk);
		}
	} catch {
		return { status: clientGone, headers: {}, body: emptyBody };
	}
	return Buffer.concat(chunks);
}

const maxUnreadBytes = 256 * 1024 * 1024;

/** Bounds what clients have not read yet: the connection that has waited longest is closed. */
export function createSend() {
	const unread = new Map<ServerResponse, number>();
	let unreadBytes = 0;

	function watch(response: ServerResponse): void {
		const bytes = response.writableLength;
		unread.set(response, bytes);
		unreadBytes += bytes;
		response.once("close", () => {
			unread.delete(response);
			unreadBytes -= bytes;
		});
		const [oldest] = unread.keys();
		if (unreadBytes > maxUnreadBytes) oldest?.socket?.destroy();
	}

	return (response: ServerResponse, { status, headers, body }: Reply): void => {
		if (status !== 304 && status !== 204) headers["Content-Length"] = String(body.length);
		response.writeHead(status, headers);
		const { req: request } = response;
		const isSending = request.method !== "GET" && !request.complete;
		if (request.method === "HEAD" || body.length === 0) response.end();
		else if (isSending && !response.shouldKeepAlive) {
			// Closed before the whole body was read, the client could lose the answer (RFC 9112, section 9.6).
			response.write(body);
			finished(request, () => response.end());
		} else response.end(body);
		// The system's buffer takes most answers at once.
		if (response.writableLength > 0) watch(response);
	};
}
