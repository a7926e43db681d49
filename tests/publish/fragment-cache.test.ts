import * as assert from "uvu/assert";
import { createFragmentCache } from "../../publish/rendered.ts";
import type { Fragment } from "../../registry/targets/facts.ts";
import { test } from "../helpers/suite.ts";

const fragment = (text: string): Fragment => ({ body: new TextEncoder().encode(text), etag: `"${text}"` });

test("what was read last is kept, up to a number of bytes; an absent fragment is kept, too", async () => {
	const loaded: string[] = [];
	const load = async (folder: string, smallkey: string) => {
		loaded.push(`${folder}/${smallkey}`);
		return smallkey === "absent" ? null : fragment(smallkey.repeat(400));
	};
	const cache = createFragmentCache(2_000, ["en", "fr"], (smallkey) => smallkey !== "unknown", load);
	const file = (smallkey: string) => cache.file("en", smallkey);
	assert.is(file("unknown"), null);
	const [first, second] = await Promise.all([file("a"), file("a")]);
	assert.is(first, second, "one read for both");
	assert.is(file("a"), first, "without a promise");
	assert.is(await file("absent"), null);
	assert.is(file("absent"), null);
	assert.is((await cache.file("fr", "a"))?.etag, first?.etag);
	assert.is(file("a"), first, "beside its other forms");
	assert.equal(loaded, ["en/a", "en/absent", "fr/a"]);
	await file("b");
	await file("c");
	assert.equal(file("a") instanceof Promise, true, "the oldest made room");
});

test("a read that began before a change is answered, and not kept", async () => {
	let [now, finish] = ["old", () => {}];
	const load = async () => {
		const text = now;
		await new Promise<void>((resolve) => {
			finish = resolve;
		});
		return fragment(text);
	};
	const cache = createFragmentCache(1_000_000, ["en"], () => true, load);
	const early = cache.file("en", "a");
	const finishEarly = finish;
	now = "new";
	cache.drop("a");
	const late = cache.file("en", "a");
	finishEarly();
	assert.is((await early)?.etag, '"old"');
	assert.is(cache.file("en", "a"), late, "what was read before the change is not kept");
	finish();
	assert.is((await late)?.etag, '"new"');
	assert.is((await cache.file("en", "a"))?.etag, '"new"');
});

test("a read that fails is tried again", async () => {
	let isDown = true;
	const load = async () => {
		if (isDown) throw new Error("down");
		return fragment("a");
	};
	const { file } = createFragmentCache(1_000_000, ["en"], () => true, load);
	assert.match(String(await Promise.resolve(file("en", "a")).catch(String)), "down");
	isDown = false;
	assert.is((await file("en", "a"))?.etag, '"a"');
});

test.run();
