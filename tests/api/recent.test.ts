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

test("only whole answers are kept, and only so many", () => {
	const recent = new RecentReplies(() => 0);
	recent.keep("/missing", replyOf(0, 404));
	recent.keep("/large", replyOf(250_001));
	assert.is(recent.find("/missing"), null);
	assert.is(recent.find("/large"), null);
	for (let index = 0; index <= 500; index += 1) recent.keep(`/${index}`, replyOf(1));
	assert.is(recent.find("/0"), null);
	assert.not.equal(recent.find("/500"), null);
	for (let index = 0; index < 16; index += 1) recent.keep(`/full${index}`, replyOf(250_000));
	assert.is(recent.find("/500"), null);
	assert.not.equal(recent.find("/full15"), null);
});

test.run();
