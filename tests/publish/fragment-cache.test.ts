import * as assert from "uvu/assert";
import { createFragmentCache } from "../../publish/fragment-cache.ts";
import type { Fragment } from "../../registry/fragment.ts";
import { test } from "../helpers/suite.ts";

const fragment = (text: string): Fragment => ({ body: new TextEncoder().encode(text), etag: `"${text}"` });

test("what was read last is kept, up to a number of bytes; an absent fragment is kept, too", async () => {
	const loaded: string[] = [];
	const load = async (path: string) => {
		loaded.push(path);
		return path === "absent" ? null : fragment(path.repeat(400));
	};
	const { file } = createFragmentCache(2_000, (path) => path !== "unknown", load);
	assert.is(file("unknown"), null);
	const [one, other] = await Promise.all([file("a"), file("a")]);
	assert.is(one, other, "one read for both");
	assert.is(file("a"), one, "without a promise");
	assert.is(await file("absent"), null);
	assert.is(file("absent"), null);
	assert.equal(loaded, ["a", "absent"]);
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
	for (const change of ["drop", "clear"] as const) {
		now = "old";
		const cache = createFragmentCache(1_000_000, () => true, load);
		const early = cache.file("a");
		const finishEarly = finish;
		now = "new";
		cache[change]("a");
		const late = cache.file("a");
		finishEarly();
		assert.is((await early)?.etag, '"old"');
		assert.is(cache.file("a"), late, "what was read before the change is not kept");
		finish();
		assert.is((await late)?.etag, '"new"');
		assert.is((await cache.file("a"))?.etag, '"new"', change);
	}
});

test("a read that fails is tried again", async () => {
	let isDown = true;
	const load = async () => {
		if (isDown) throw new Error("down");
		return fragment("a");
	};
	const { file } = createFragmentCache(1_000_000, () => true, load);
	assert.match(String(await Promise.resolve(file("a")).catch(String)), "down");
	isDown = false;
	assert.is((await file("a"))?.etag, '"a"');
});

test.run();
