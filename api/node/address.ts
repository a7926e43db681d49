import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import ipaddr from "ipaddr.js";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import type { Refusal } from "../../store/store.ts";
import type { WriteAction } from "../app.ts";
import { type Client, type Context, type Holding, Room } from "../context.ts";
import { emptyBody, type Reply, refuseWrite } from "../reply.ts";
import { answerWrite, type WriteBody, writeHeaders } from "../write.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type TrustedProxies = [Address, number][];

/** In bits; a wider range would trust a large part of the internet. */
const minPrefixBits = { ipv4: 8, ipv6: 16 } as const;
/** From the end, where proxies add their part. */
const maxForwarded = 50;

/** `TRUSTED_PROXIES`: such as `127.0.0.1,10.1.0.0/16`. An error is a text. */
export function parseTrustedProxies(text: string): TrustedProxies | string {
	const ranges: TrustedProxies = [];
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
		ranges.push([address, prefix]);
	}
	return ranges;
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
export function clientOf(request: IncomingMessage, trusted: TrustedProxies) {
	const address = request.socket.remoteAddress ?? "";
	const peer = parseAddress(address);
	if (!peer) return { address, shares: [{ name: address, parts: addressParts }] };
	const forwarded = trusted.length > 0 ? request.headers["x-forwarded-for"] : undefined;
	if (typeof forwarded !== "string") return { address, shares: isLoopback(peer) ? [] : sharesOf(peer) };
	const client = findClient(peer, forwarded, trusted);
	return { address: client.toString(), shares: sharesOf(client) };
}

/** Of a room, an address has an eighth, and a network of 48 bits, which a site gets (RFC 6177), a quarter. */
const addressParts = 8;
const siteParts = 4;

/** With IPv6 the network of 64 bits: one client has all of it. */
function sharesOf(client: Address): Client {
	const network = (bits: number) => `${ipaddr.IPv6.networkAddressFromCIDR(`${client}/${bits}`)}`;
	if (client.kind() === "ipv4") return [{ name: `${client}`, parts: addressParts }];
	return [
		{ name: network(64), parts: addressParts },
		{ name: `${network(48)}/48`, parts: siteParts },
	];
}

const hostPattern = /^(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

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

function findClient(peer: Address, forwarded: string, trusted: TrustedProxies): Address {
	const parts = forwarded.split(",").slice(-maxForwarded);
	let client = peer;
	while (parts.length > 0 && ipaddr.subnetMatch(client, { trusted }, "") === "trusted") {
		const next = parseAddress(withoutPort((parts.pop() as string).trim()));
		// Another machine's loopback address is its own.
		if (!next || (isLoopback(next) && !isLoopback(client))) return client;
		client = next;
	}
	return client;
}

function isLoopback(address: Address): boolean {
	return address.range() === "loopback";
}

function withoutPort(text: string): string {
	const match = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text);
	return match?.[1] ?? match?.[2] ?? text;
}

export const clientGone = 499;

function answerGone(): Reply {
	return { status: clientGone, headers: {}, body: emptyBody };
}

const defaultHeldBytes = 32 * 1024 * 1024;
const maxBodies = 4_096;

const noRoom: Refusal = {
	status: 503,
	errors: [problemAt("", "busy")],
	reason: "no room for the body",
	retryAfter: 1,
};

export function createWriter(context: Context, timeoutMs: number, maxHeldBytes = defaultHeldBytes) {
	const bodies = new Room(maxBodies);
	const bytes = new Room(maxHeldBytes);

	return async (request: IncomingMessage, action: WriteAction, client: Client): Promise<Reply> => {
		const { headers, headersDistinct, method = "", url: target = "" } = request;
		const length = headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : null;
		const address = client[0]?.name ?? null;
		const [place, room] = [bodies.hold(client), bytes.hold(client)];
		const readHeld = async (): Promise<WriteBody | Reply> => {
			if (place.take(1)) return refuseWrite(noRoom);
			const body = await readBody(request, timeoutMs, room);
			// A head without its body costs as much as a wrong signature.
			const isMissing =
				body !== "too large" && !(body instanceof Uint8Array) && body.status !== noRoom.status;
			if (isMissing && address !== null) context.limiter?.punish(address);
			return body;
		};
		try {
			const signed = writeHeaders((name) => headersDistinct[name]?.join(", "));
			const write = { action, method, target, address, length, ...signed };
			return await answerWrite(write, readHeld, context);
		} finally {
			place.end();
			room.end();
		}
	};
}

/** Takes room for the bytes that have arrived, not for those announced. */
function readBody(request: IncomingMessage, timeoutMs: number, room: Holding): Promise<WriteBody | Reply> {
	return new Promise((resolve) => {
		const settle = (body: WriteBody | Reply) => {
			clearTimeout(timer);
			resolve(body);
		};
		const errors = [problemAt("", "body-late", timeoutMs / 1000)];
		const late = () => discard(refuseWrite({ status: 408, errors }, { Connection: "close" }));
		const timer = setTimeout(late, timeoutMs);
		const chunks: Buffer[] = [];
		let length = 0;
		let isDiscarded = false;
		const discard = (body: WriteBody | Reply) => {
			isDiscarded = true;
			chunks.length = 0;
			settle(body);
		};
		request.on("data", (chunk: Buffer) => {
			if (isDiscarded) return;
			length += chunk.length;
			if (length > maxRegistrationBytes) discard("too large");
			else if (room.take(chunk.length)) discard(refuseWrite(noRoom));
			else chunks.push(chunk);
		});
		finished(request, (error) => settle(error ? answerGone() : Buffer.concat(chunks)));
	});
}
