import { test } from "uvu";
import * as assert from "uvu/assert";
import { RecentReplies } from "../../api/recent.ts";
import type { Reply } from "../../api/reply.ts";

function replyOf(length: number, status = 200): Reply {
	return { status, headers: {}, body: new Uint8Array(length) };
}

test("an answer is kept until any fragment changes", () => {
	let version = 0;
	const recent = new RecentReplies(() => version);
	const reply = replyOf(10);
	assert.is(recent.find("/a"), null);
	recent.keep("/a", reply);
	assert.is(recent.find("/a"), reply);
	assert.is(recent.find("/b"), null);
	version += 1;
	assert.is(recent.find("/a"), null);
	recent.keep("/a", reply);
	assert.is(recent.find("/a"), reply);
	version += 1;
	recent.keep("/b", reply);
	assert.is(recent.find("/a"), null, "an older answer is not revived by a newer one");
	assert.is(recent.find("/b"), reply);
});

test("only whole answers are kept, and only so many bytes of them", () => {
	const recent = new RecentReplies(() => 0);
	recent.keep("/missing", replyOf(0, 404));
	recent.keep("/large", replyOf(250_001));
	assert.is(recent.find("/missing"), null);
	assert.is(recent.find("/large"), null);
	recent.keep("/first", replyOf(1));
	for (let index = 0; index < 15; index += 1) recent.keep(`/full${index}`, replyOf(250_000));
	assert.not.equal(recent.find("/first"), null);
	recent.keep("/full15", replyOf(250_000));
	assert.is(recent.find("/first"), null);
	assert.not.equal(recent.find("/full15"), null);
});

test("long targets and many small answers are bounded, too", () => {
	for (const target of ["x".repeat(16_000), ""]) {
		const recent = new RecentReplies(() => 0);
		const kept = () =>
			Array.from({ length: 5_000 }, (_, index) => recent.find(`${target}${index}`)).filter(Boolean);
		for (let index = 0; index < 5_000; index += 1) {
			recent.keep(`${target}${index}`, replyOf(1));
			recent.keep(`${target}${index}`, replyOf(1));
		}
		const bytes = kept().length * (2 * target.length + 2_000);
		assert.ok(bytes > 0 && bytes <= 4_000_000, `${bytes}`);
	}
});

test.run();
