import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import ipaddr from "ipaddr.js";
import { maxRegistrationBytes } from "../../registry/registration.ts";
import { problemAt } from "../../registry/texts.ts";
import type { Refusal } from "../../store/store.ts";
import type { WriteAction } from "../app.ts";
import { type Client, type Context, Room } from "../context.ts";
import { emptyBody, type Reply, refuseWrite } from "../reply.ts";
import { answerWrite, tooLarge, writeHeaders } from "../write.ts";

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

export const clientGone = 499;

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
		const address = client[0] ?? null;
		const [place, room] = [bodies.hold(client), bytes.hold(client)];
		const readHeld = async () => {
			if (place.take(1)) return refuseWrite(noRoom);
			const body = await readBody(request, timeoutMs, room.take);
			// A head without its body costs as much as a wrong signature.
			const isMissing = "status" in body && [408, clientGone].includes(body.status);
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
function readBody(
	request: IncomingMessage,
	timeoutMs: number,
	take: ReturnType<Room["hold"]>["take"],
): Promise<Uint8Array | Reply> {
	return new Promise((resolve) => {
		let chunks: Buffer[] | null = [];
		let length = 0;
		const settle = (body: Uint8Array | Reply) => {
			clearTimeout(timer);
			chunks = null;
			resolve(body);
		};
		const errors = [problemAt("", "body-late", timeoutMs / 1000)];
		const late = () => settle(refuseWrite({ status: 408, errors }, { Connection: "close" }));
		const timer = setTimeout(late, timeoutMs);
		request.on("data", (chunk: Buffer) => {
			if (!chunks) return;
			length += chunk.length;
			if (length > maxRegistrationBytes) settle(refuseWrite(tooLarge));
			else if (take(chunk.length)) settle(refuseWrite(noRoom));
			else chunks.push(chunk);
		});
		const gone = { status: clientGone, headers: {}, body: emptyBody };
		finished(request, (error) => settle(error ? gone : Buffer.concat(chunks ?? [])));
	});
}
