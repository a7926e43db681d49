import type { IncomingMessage } from "node:http";
import * as assert from "uvu/assert";
import { clientOf, parseTrustedProxies, type TrustedProxies } from "../../../api/node/client.ts";
import { test } from "../../helpers/suite.ts";
import { words } from "../../helpers/world.ts";

function from(
	remoteAddress: string,
	forwarded: string | null,
	trusted = "127.0.0.1,::1,10.1.0.0/16",
): string {
	const proxies = trusted === "" ? () => false : (parseTrustedProxies(trusted) as TrustedProxies);
	return clientOf(requestFrom(remoteAddress, forwarded), proxies).address;
}

function requestFrom(remoteAddress: string, forwarded: string | null = null): IncomingMessage {
	const headers = forwarded === null ? {} : { "x-forwarded-for": forwarded };
	return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

test("only trusted proxies name the client's address, read from the last entry on", () => {
	const rows: [connection: string, forwarded: string | null, client: string, trusted?: string][] = [
		// The connection's own address is no proxy's; no proxy is trusted; nothing is forwarded.
		["192.0.2.9", "198.51.100.1", "192.0.2.9"],
		["127.0.0.1", "198.51.100.1", "127.0.0.1", ""],
		["127.0.0.1", null, "127.0.0.1"],
		["127.0.0.1", "198.51.100.1", "198.51.100.1"],
		["::ffff:127.0.0.1", "::ffff:198.51.100.1", "198.51.100.1"],
		["127.0.0.1", "203.0.113.7, 198.51.100.1, 10.1.2.3", "198.51.100.1"],
		["127.0.0.1", "10.1.2.3,10.1.2.4", "10.1.2.3"],
		["127.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
		["::1", "[2001:db8::7]:4711", "2001:db8::7"],
		// Several proxies, local ones too; a loopback address that another machine forwards is its own.
		["::1", "203.0.113.7, 198.51.100.1, 10.1.2.3, 127.0.0.1, ::1", "198.51.100.1"],
		["10.1.9.9", "198.51.100.1, 127.0.0.1", "10.1.9.9"],
		// Junk hides no address.
		["10.1.9.9", "unknown", "10.1.9.9"],
		["10.1.9.9", "0x7f.1", "10.1.9.9"],
		["10.1.9.9", "x, é", "10.1.9.9"],
		["127.0.0.1", "junk, 10.1.2.3", "10.1.2.3"],
		// Of a long header the end is read.
		["127.0.0.1", `198.51.100.1${", 10.1.2.3".repeat(100)}`, "10.1.2.3"],
	];
	for (const [connection, forwarded, client, trusted] of rows)
		assert.is(from(connection, forwarded, trusted), client, `${connection} ${forwarded?.slice(0, 60)}`);
});

test("proxies are addresses and ranges; a value that trusts everybody is refused", () => {
	for (const text of ["127.0.0.1", "::1, 10.0.0.0/8", "2001:db8::/32", "::ffff:10.0.0.0/104"])
		assert.not.type(parseTrustedProxies(text), "string", text);
	for (const text of words("0.0.0.0/0 ::/0 127.0.0.1,128.0.0.0/1 2000::/3 ::ffff:0.0.0.0/96"))
		assert.match(String(parseTrustedProxies(text)), /^must not trust everybody: \S+ is wider than \/(8|16)$/);
	for (const text of ["*", "10.0.0.0/33", "10.0.0/8", "127.0.0.1,", "localhost", "1.2.3.4/-1"])
		assert.match(String(parseTrustedProxies(text)), /^must be addresses or ranges such as .*, not \S/, text);
});

const countedAs = (address: string) => clientOf(requestFrom(address), () => false).shares[0];

test("writes are counted by address, of IPv6 by network, and not for this machine itself", () => {
	assert.is(countedAs("192.0.2.1"), "192.0.2.1");
	assert.is(countedAs("::ffff:192.0.2.1"), "192.0.2.1");
	assert.is(countedAs("2001:db8:1:2:3:4:5:6"), countedAs("2001:db8:1:2::"));
	assert.not.equal(countedAs("2001:db8:1:2::"), countedAs("2001:db8:1:3::"));
	assert.is(countedAs("fe80::1%eth0"), countedAs("fe80::2"));
	for (const local of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
		assert.is(countedAs(local), undefined);
	assert.is(countedAs(""), "");
	const behind = (forwarded: string | null) =>
		clientOf(requestFrom("127.0.0.1", forwarded), parseTrustedProxies("127.0.0.1") as TrustedProxies).shares;
	assert.is(behind("198.51.100.1, 127.0.0.1")[0], "198.51.100.1");
	for (const forwarded of ["127.0.0.1", "junk, 127.0.0.1"])
		assert.is(behind(forwarded)[0], "127.0.0.1", "the proxy in front does not name its clients");
	assert.equal(behind(null), []);
});

test.run();
