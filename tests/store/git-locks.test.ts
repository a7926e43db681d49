import { closeSync, existsSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { clearLocks } from "../../store/git/leftovers.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { committed, openEmpty, put } from "./git-store.ts";

/** Times that a clock which jumped may have given to a file. */
const times = { "long ago": new Date(0), "in the future": new Date("2100-01-01") };

for (const name of ["HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"]) {
	for (const [when, time] of Object.entries(times)) {
		test(`${name} that a killed process left, written ${when}, refuses no PUT`, async () => {
			await using folder = await temporaryFolder();
			await using store = await openEmpty(folder.path, { limits: { lockMs: 60 } });
			await committed(put(store, "before"));
			const lock = join(folder.path, "repository.git", name);
			await writeFile(lock, "");
			await utimes(lock, time, time);
			const commit = await committed(put(store, "after"));
			assert.is(commit, store.tip);
			assert.ok(await store.read("after"));
		});
	}
}

test("a review's lock that a killed process left refuses no review", async () => {
	await using folder = await temporaryFolder();
	await using store = await openEmpty(folder.path, { limits: { lockMs: 60 } });
	await committed(put(store, "one", "first", { review: true }));
	await writeFile(join(folder.path, "repository.git/refs/heads/register/one.lock"), "");
	const before = store.tip;
	assert.ok(await committed(put(store, "one", "second", { review: true })));
	assert.is(store.tip, before);
});

test("a lock that keeps changing hands is left alone, and waited for a while only", async () => {
	await using folder = await temporaryFolder();
	const lock = join(folder.path, "HEAD.lock");
	// At once, so that a machine that stood still has the lock in other hands before anybody looks at it again.
	const changeHands = () => {
		writeFileSync(`${lock}.next`, "");
		renameSync(`${lock}.next`, lock);
	};
	changeHands();
	const working = setInterval(changeHands, 5);
	assert.equal(await clearLocks(folder.path, 200), []);
	clearInterval(working);
	assert.ok(existsSync(lock));
	assert.equal(await clearLocks(folder.path, 50), ["HEAD.lock"]);
	assert.not(existsSync(lock));
});

test("a lock that is still written is left alone", async () => {
	await using folder = await temporaryFolder();
	const lock = openSync(join(folder.path, "HEAD.lock"), "w");
	// At once: see above.
	const working = setInterval(() => writeSync(lock, "x"), 5);
	assert.equal(await clearLocks(folder.path, 200), []);
	clearInterval(working);
	closeSync(lock);
});

test.run();
