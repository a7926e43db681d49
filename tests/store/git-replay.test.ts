import { open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { decideChange, isRefusal } from "../../store/decide.ts";
import { syncPath } from "../../store/git/writer.ts";
import type { Edit, Meta } from "../../store/store.ts";
import { UsedRequests } from "../../store/used-requests.ts";
import { noon } from "../helpers/local.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";
import { metaOf, newRequest } from "./contract.ts";
import { committed, TestRepository } from "./git-store.ts";
import { replaceGit } from "./other-git.ts";

const minuteMs = 60_000;

const test = freshSuite("requests that were used", async (use) => {
	const world = new TestRepository(use(await temporaryFolder()).path);
	world.now = noon;
	await world.open();
	return { world: use(world) };
});

async function isUsed(world: TestRepository, layer: string, parts: Partial<Meta>): Promise<boolean> {
	const before = [await world.tip(), await world.read("k")];
	const outcome = await world.put("k", layer, { method: "PUT", time: world.now as number, ...parts });
	if (!isRefusal(outcome)) return false;
	assert.is(outcome.status, 401);
	assert.equal([await world.tip(), await world.read("k")], before, "nothing was stored");
	return true;
}

const remember = ({ store }: TestRepository, request = newRequest()): Promise<boolean> =>
	store.remember({ request, method: "PUT", time: noon, outcome: 404 });

const logOf = ({ folder }: TestRepository) => join(folder, "requests/requests.log");

test("a replay of a change that was refused after its commit is refused", async ({ world }) => {
	const first = { request: newRequest(), method: "PUT", time: noon };
	{
		using _ = replaceGit(
			world.folder,
			`case $* in *fast-import*) "$git" "$@"; exit 1; esac; exec "$git" "$@"`,
		);
		assert.match(String(await world.put("k", "one", first).catch(String)), "StoreBusy");
	}
	const later = [world.put("k", "two"), world.put("k", "one", first)] as const;
	const commit = await committed(later[0]);
	assert.ok(isRefusal(await later[1]));
	assert.is(await world.tip(), commit);
});

test("a use is on the disk before it is answered, in a new log and in the same one", async ({ world }) => {
	const handle = await open(world.folder);
	const prototype = Object.getPrototypeOf(handle);
	await handle.close();
	const { sync } = prototype;
	const texts: string[] = [];
	prototype.sync = async function (...args: unknown[]) {
		await sync.apply(this, args);
		for (const name of await readdir(join(world.folder, "requests")))
			texts.push(await readFile(join(world.folder, "requests", name), "utf8"));
	};
	try {
		for (const request of [newRequest(), newRequest()]) {
			await remember(world, request);
			assert.match(texts.splice(0).join(), request);
		}
		await syncPath(world.folder);
		assert.is(texts.length, 1, "a folder is synced like a file");
		assert.match(String(await syncPath(join(world.folder, "none")).catch(String)), "ENOENT");
	} finally {
		prototype.sync = sync;
	}
});

test("a use that cannot be written is not remembered, and can be written later", async ({ world }) => {
	const request = newRequest();
	await remember(world);
	const requests = join(world.folder, "requests");
	await rename(requests, `${requests}.away`);
	for (const _ of ["in the same log", "in a new one"])
		assert.match(
			String(await remember(world, request).catch(String)),
			"StoreBusy: the repository cannot be written",
		);
	await rename(`${requests}.away`, requests);
	assert.is(await remember(world, request), true);
	await world.restart();
	assert.is(await remember(world, request), false);
});

test("a line that a power cut has cut off spoils no other line", async ({ world }) => {
	const [first, cut] = [newRequest(), newRequest()];
	for (const request of [first, cut]) await remember(world, request);
	await world.store.close();
	const text = await readFile(logOf(world), "utf8");
	await writeFile(logOf(world), text.slice(0, -20));
	await world.open();
	assert.is(await remember(world, first), false);
	assert.is(await remember(world, cut), true);
	await world.restart();
	assert.is(await remember(world, cut), false);
	assert.equal(await readdir(join(world.folder, "requests")), ["requests.log"]);
});

test("a repeat whose first method is not known is answered like the first", async ({ world }) => {
	const decide = async () => ((await world.read("k")) ? [] : [{ path: layerPath("k"), text: "1\n" }]);
	const meta = { ...metaOf("k", { time: noon }), method: "PUT" };
	const change = () => committed(world.store.change(decide, meta));
	const commit = await change();
	// Without the log, the request is read from the commit.
	await world.store.close();
	await rm(logOf(world), { force: true });
	await world.open();
	for (let starts = 0; starts < 2; starts += 1) {
		await remember(world);
		assert.match(
			await readFile(logOf(world), "utf8"),
			new RegExp(`^${meta.request} \\? ${commit} \\d+$`, "m"),
		);
		assert.is(await change(), commit);
		await world.restart();
	}
});

test("a clock that goes ahead and back reopens no request, with restarts between", async ({ world }) => {
	const [request, refused, time] = [newRequest(), newRequest(), noon];
	await isUsed(world, "one", { request, time });
	assert.is(await remember(world, refused), true);
	for (const minutes of [-60, 10, 70, 1.5]) {
		world.now = noon + minutes * minuteMs;
		const layer = `after ${minutes}`;
		assert.is(await isUsed(world, layer, { request: newRequest(), time: world.now }), false, layer);
		assert.is(await remember(world), true, layer);
		for (const where of [layer, `${layer} and a restart`]) {
			assert.is(await isUsed(world, "one", { request, time }), true, where);
			assert.is(await remember(world, refused), false, where);
			await world.restart();
		}
	}
});

test("a use is kept where the clock was ahead, and a clock that is set back is not believed", async () => {
	let [nowMs, monotonicMs] = [noon, 0];
	const used = new UsedRequests(
		() => nowMs,
		() => monotonicMs,
	);
	const use = (request: string, time: number) => used.note({ request, method: "PUT", time, outcome: 404 });
	const hourMs = 60 * minuteMs;
	use("ahead", noon + hourMs);
	use("usual", noon);
	[nowMs, monotonicMs] = [noon + 6 * minuteMs, 6 * minuteMs];
	use("later", nowMs);
	assert.equal([used.find("ahead")?.time, used.find("usual")], [noon + hourMs, undefined]);
	const isRefused = async (time: number, request: string | null, ...edits: Edit[]) => {
		const change = { decide: async () => edits, meta: metaOf("k", { time, request }) };
		return isRefusal(await decideChange(change, null as never, null, used));
	};
	const edit = { path: layerPath("k"), text: "1\n" };
	assert.ok(await isRefused(noon, "new", edit));
	const others = [
		isRefused(noon + minuteMs, "new", edit),
		isRefused(noon, "new"),
		isRefused(noon, null, edit),
	];
	assert.equal(await Promise.all(others), [false, false, false]);
});

test.run();
