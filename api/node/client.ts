import type { IncomingMessage, ServerResponse } from "node:http";
import { finished, pipeline, Readable } from "node:stream";
import ipaddr from "ipaddr.js";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import type { Refusal } from "../../store/store.ts";
import { type Client, Room } from "../limits.ts";
import { emptyBody, maxJoinedBytes, type Reply, refuse, tooLarge } from "../reply.ts";

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
export const clientGone = 499;

const defaultHeldBytes = 32 * 1024 * 1024;
const maxBodies = 4_096;

const noRoom: Refusal = {
	status: 503,
	errors: [problemAt("", "busy")],
	retryAfter: 1,
};

/** `read` returns the body, or a Reply that refuses it; `end` frees its room. */
export function createReceiver(timeoutMs: number, maxHeldBytes = defaultHeldBytes) {
	const bodies = new Room(maxBodies);
	const bytes = new Room(maxHeldBytes);
	return (request: IncomingMessage, client: Client) => {
		const bodyShare = bodies.hold(client);
		const byteShare = bytes.hold(client);
		const read = async () =>
			bodyShare.take(1) ? refuse(noRoom) : readBody(request, timeoutMs, byteShare.take);
		const end = () => {
			bodyShare.end();
			byteShare.end();
		};
		return { read, end };
	};
}

/** Takes room for bytes that have arrived, not for announced ones. */
function readBody(request: IncomingMessage, timeoutMs: number, take: ReturnType<Room["hold"]>["take"]) {
	return new Promise<Uint8Array | Reply>((resolve) => {
		let chunks: Buffer[] | null = [];
		let length = 0;
		const settle = (body: Uint8Array | Reply) => {
			clearTimeout(timer);
			chunks = null;
			resolve(body);
		};
		const errors = [problemAt("", "body-late", timeoutMs / 1000)];
		const refuseLate = () => settle(refuse({ status: 408, errors }, { Connection: "close" }));
		const timer = setTimeout(refuseLate, timeoutMs);
		request.on("data", (chunk: Buffer) => {
			if (!chunks) return;
			length += chunk.length;
			if (length > maxRegistrationBytes) settle(refuse(tooLarge));
			else if (take(chunk.length)) settle(refuse(noRoom));
			else chunks.push(chunk);
		});
		const gone = { status: clientGone, headers: {}, body: emptyBody };
		finished(request, (error) => settle(error ? gone : Buffer.concat(chunks ?? [])));
	});
}

const maxUnreadBytes = 256 * 1024 * 1024;

/** Closes the connection of a slow reader. @param timeoutMs beside the time at `bytesPerSecond` */
export function createSend(timeoutMs: number, bytesPerSecond: number) {
	const unread = new Map<ServerResponse, number>();
	let unreadBytes = 0;

	function watch(response: ServerResponse, length: number): void {
		const close = () => response.socket?.destroy();
		const timer = setTimeout(close, timeoutMs + (length / bytesPerSecond) * 1000);
		const bytes = response.writableLength;
		unread.set(response, bytes);
		unreadBytes += bytes;
		response.once("close", () => {
			clearTimeout(timer);
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
		const isStream = !(body instanceof Uint8Array) && body.length > maxJoinedBytes;
		if (request.method === "HEAD" || body.length === 0) response.end();
		else if (isStream) pipeline(Readable.from(body), response, () => undefined);
		else if (isSending && !response.shouldKeepAlive && headers.Connection !== "close") {
			// Closed before the whole body was read, the client could lose the answer (RFC 9112, section 9.6).
			response.write(joined(body), "latin1");
			finished(request, () => response.end());
		} else response.end(joined(body), "latin1");
		// The system's buffer takes most answers at once.
		if (response.writableLength > 0 || isStream) watch(response, body.length);
	};
}

/** As a Latin-1 text: a new buffer takes twice as long (row `docs-50` of `npm run bench`). */
function joined(body: Reply["body"]): Uint8Array | string {
	if (body instanceof Uint8Array) return body;
	let text = "";
	for (const { buffer, byteOffset, length } of body)
		text += Buffer.from(buffer, byteOffset, length).toString("latin1");
	return text;
}
