import type { IncomingMessage } from "node:http";
import * as assert from "uvu/assert";
import { clientOf, parseTrustedProxies, type TrustedProxies } from "../../../api/node/address.ts";
import { test } from "../../helpers/suite.ts";
import { words } from "../../helpers/world.ts";

/** The address of a request from `remoteAddress` with a header, where some proxies are trusted. */
function from(
	remoteAddress: string,
	forwarded: string | null,
	trusted = "127.0.0.1,::1,10.1.0.0/16",
): string {
	const proxies = trusted === "" ? [] : (parseTrustedProxies(trusted) as TrustedProxies);
	return clientOf(requestFrom(remoteAddress, forwarded), proxies).address;
}

function requestFrom(remoteAddress: string, forwarded: string | null = null): IncomingMessage {
	const headers = forwarded === null ? {} : { "x-forwarded-for": forwarded };
	return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

test("only trusted proxies name the client's address, read from the last entry on", () => {
	assert.is(from("192.0.2.9", "198.51.100.1"), "192.0.2.9", "the connection's own address is no proxy's");
	assert.is(from("127.0.0.1", "198.51.100.1", ""), "127.0.0.1", "no proxy is trusted");
	assert.is(from("127.0.0.1", null), "127.0.0.1");
	assert.is(from("127.0.0.1", "198.51.100.1"), "198.51.100.1");
	assert.is(from("::ffff:127.0.0.1", "198.51.100.1"), "198.51.100.1");
	assert.is(from("127.0.0.1", "203.0.113.7, 198.51.100.1, 10.1.2.3"), "198.51.100.1", "what a client claims");
	assert.is(from("127.0.0.1", "10.1.2.3,10.1.2.4"), "10.1.2.3");
	assert.is(from("127.0.0.1", "198.51.100.1:4711"), "198.51.100.1");
	assert.is(from("::1", "[2001:db8::7]:4711"), "2001:db8::7");
	assert.is(from("127.0.0.1", "::ffff:198.51.100.1"), "198.51.100.1");
});

test("behind several proxies, local ones too, the client is the address before them", () => {
	assert.is(from("127.0.0.1", "198.51.100.1, 127.0.0.1"), "198.51.100.1");
	assert.is(from("::1", "203.0.113.7, 198.51.100.1, 10.1.2.3, 127.0.0.1, ::1"), "198.51.100.1");
	assert.is(from("10.1.9.9", "198.51.100.1, 127.0.0.1"), "10.1.9.9", "another machine's own");
	assert.is(from("127.0.0.1", "127.0.0.1", "10.1.0.0/16"), "127.0.0.1");
	const counted = (forwarded: string | null) =>
		clientOf(requestFrom("127.0.0.1", forwarded), parseTrustedProxies("127.0.0.1") as TrustedProxies).counted;
	assert.is(counted("198.51.100.1, 127.0.0.1"), "198.51.100.1");
	assert.is(counted("127.0.0.1"), "127.0.0.1", "the proxy in front says nothing of its clients");
	assert.is(counted("junk, 127.0.0.1"), "127.0.0.1");
	assert.is(counted(null), null);
});

test("junk in the header hides no address", () => {
	for (const junk of [
		"unknown",
		"",
		" ",
		"1",
		"0x7f.1",
		"198.51.100.1.1",
		"x, 10.1.2.3, é",
		"127.0.0.1",
		"::1",
	]) {
		const address = from("10.1.9.9", junk);
		assert.is(address, "10.1.9.9", junk);
	}
	assert.is(from("127.0.0.1", "junk, 10.1.2.3"), "10.1.2.3");
});

test("of a long header the end is read, and an address that is cut is ignored", () => {
	const client = "198.51.100.1";
	assert.is(from("127.0.0.1", `${"203.0.113.7, ".repeat(10_000)}${client}`), client);
	const proxies = ", 10.1.2.3".repeat(10_000);
	assert.is(from("127.0.0.1", client + proxies), "10.1.2.3");
	for (let shift = 0; shift < 10; shift += 1) {
		assert.is(from("127.0.0.1", client + proxies + " ".repeat(shift)), "10.1.2.3");
	}
});

test("proxies are addresses and ranges; a value that trusts everybody is refused", () => {
	for (const text of ["127.0.0.1", "::1, 10.0.0.0/8", "2001:db8::/32", "::ffff:10.0.0.0/104"]) {
		assert.not.type(parseTrustedProxies(text), "string", text);
	}
	for (const text of words("0.0.0.0/0 ::/0 0.0.0.0/1 127.0.0.1,128.0.0.0/1 2000::/3 ::ffff:0.0.0.0/96")) {
		assert.match(
			String(parseTrustedProxies(text)),
			/^must not trust everybody: \S+ is wider than \/(8|16)$/,
			text,
		);
	}
	for (const text of ["*", "all", "10.0.0.0/33", "10.0.0/8", "127.0.0.1,", "localhost", "1.2.3.4/-1"]) {
		assert.match(String(parseTrustedProxies(text)), /^must be addresses or ranges such as .*, not \S/, text);
	}
});

const countedAs = (address: string) => clientOf(requestFrom(address), []).counted;

test("writes are counted by address, of IPv6 by network, and not for this machine itself", () => {
	assert.is(countedAs("192.0.2.1"), "192.0.2.1");
	assert.is(countedAs("::ffff:192.0.2.1"), "192.0.2.1");
	assert.is(countedAs("2001:db8:1:2:3:4:5:6"), countedAs("2001:db8:1:2::"));
	assert.not.equal(countedAs("2001:db8:1:2::"), countedAs("2001:db8:1:3::"));
	assert.is(countedAs("fe80::1%eth0"), countedAs("fe80::2"));
	for (const own of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"]) assert.is(countedAs(own), null);
	assert.is(countedAs(""), "");
});

test.run();
