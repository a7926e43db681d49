import { test } from "uvu";
import * as assert from "uvu/assert";
import { etagOf } from "../../api/etag.ts";
import { RecentReplies } from "../../api/recent.ts";
import type { Reply } from "../../api/reply.ts";

/** An answer whose tag is that of a text. */
function replyOf(length: number, text: string, status = 200): Reply {
	const ETag = etagOf(new TextEncoder().encode(text));
	return { status, headers: { ETag }, body: new Uint8Array(length) };
}

function recentOf(version: () => number): RecentReplies {
	return new RecentReplies(version, (body) => new Uint8Array(body));
}

/** Makes an answer twice. */
function keepTwice(recent: RecentReplies, target: string, length: number, status = 200): void {
	for (let time = 0; time < 2; time += 1) recent.keep(target, "docs", replyOf(length, target, status));
}

test("an answer is kept the second time it is made, until any fragment changes", () => {
	let version = 0;
	const recent = recentOf(() => version);
	const reply = replyOf(10, "a");
	const kept = {
		kind: "doc",
		headers: ["ETag", reply.headers.ETag, "Content-Length", "10"],
		body: reply.body,
	};
	recent.keep("/a", "doc", reply);
	assert.is(recent.find("/a"), null);
	recent.keep("/a", "doc", reply);
	assert.equal(recent.find("/a"), kept);
	assert.is(recent.find("/b"), null);
	version += 1;
	assert.is(recent.find("/a"), null);
	recent.keep("/a", "doc", reply);
	assert.equal(recent.find("/a"), kept);
	version += 1;
	keepTwice(recent, "/b", 10);
	assert.is(recent.find("/a"), null, "an older answer is not revived by a newer one");
	assert.not.equal(recent.find("/b"), null);
});

test("what is kept is a copy: the room of the answer that was sent is another one's soon", () => {
	const recent = recentOf(() => 0);
	const reply = replyOf(3, "a");
	recent.keep("/a", "doc", reply);
	recent.keep("/a", "doc", reply);
	(reply.body as Uint8Array).fill(7);
	assert.equal([...(recent.find("/a")?.body ?? [])], [0, 0, 0]);
});

test("only whole answers are kept, and only so many bytes of them", () => {
	const recent = recentOf(() => 0);
	keepTwice(recent, "/missing", 0, 404);
	keepTwice(recent, "/large", 250_001);
	assert.is(recent.find("/missing"), null);
	assert.is(recent.find("/large"), null);
	keepTwice(recent, "/first", 1);
	for (let index = 0; index < 15; index += 1) keepTwice(recent, `/full${index}`, 250_000);
	assert.not.equal(recent.find("/first"), null);
	keepTwice(recent, "/full15", 250_000);
	assert.is(recent.find("/first"), null);
	assert.not.equal(recent.find("/full15"), null);
});

test("long targets and many small answers are bounded, too", () => {
	for (const target of ["x".repeat(16_000), ""]) {
		const recent = recentOf(() => 0);
		for (let index = 0; index < 5_000; index += 1) keepTwice(recent, `${target}${index}`, 1);
		const kept = Array.from({ length: 5_000 }, (_, index) => recent.find(`${target}${index}`));
		const bytes = kept.filter(Boolean).length * (2 * target.length + 2_000);
		assert.ok(bytes > 0 && bytes <= 4_000_000, `${bytes}`);
	}
});

test.run();
