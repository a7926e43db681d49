import { existsSync } from "node:fs";
import { readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { runGit } from "../../system/git/run.ts";
import { Clone } from "../helpers/clone.ts";
import { Local, manual, textOf, wms } from "../helpers/local.ts";
import { removedFilesOf } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite } from "../helpers/world.ts";

const test = freshSuite("git store", async (use) => {
	const local = use(await Local.open({ files: { "layers/on/one.json": wms("one") } }));
	return { local, clone: use(await Clone.of(local.repository)) };
});

const status = (local: Local, smallkey: string) => local.get(`/v0.9/doc/en/${smallkey}`).status;

test("a PUT of a layer that a push has spelled differently makes no commit", async ({ local, clone }) => {
	assert.is((await local.put("two", manual)).status, 201);
	assert.is((await local.store.ids("two"))?.isCanonical, false, "known to decisions only");
	await clone.git("pull", "-q");
	await clone.commit({ "layers/tw/two.json": JSON.stringify(JSON.parse(manual), null, 3) });
	assert.ok(await clone.push());
	const pushed = await clone.git("rev-parse", "HEAD");
	await eventually(() => local.store.tip === pushed);
	local.now += 1000;
	const answer = await local.put("two", manual);
	assert.is(answer.status, 201);
	assert.is(((await answer.json()) as { commit: string }).commit, pushed);
	assert.is(await local.git("rev-parse", "refs/heads/main"), pushed);
});

test("what is pushed is served, in memory and as files", async ({ local, clone }) => {
	await clone.commit({ "layers/tw/two.json": wms("two"), "layers/on/one.json": wms("uno") });
	assert.ok(await clone.push());
	await eventually(() => status(local, "two") === 200);
	assert.match(textOf(local.get("/v0.9/doc/fr/one")), '"layerName":"uno"');
	await local.filesIdle();
	assert.match(await readFile(join(local.out, "v0.9/doc/en/two"), "utf8"), '"layerName":"two"');
	await clone.commit({ "layers/tw/two.json": null });
	assert.ok(await clone.push());
	await eventually(() => status(local, "two") === 404);
	await eventually(
		async () => (await readFile(join(local.out, "v0.9/doc/en/two")).catch(() => null)) === null,
	);
});

test("a commit of more text than is handed to git at once is stored whole", async ({ local }) => {
	const texts = ["é", "\u{1f30d}", "x"].map((character) => `${character.repeat(700_000)}\n`);
	const edits = texts.map((text, index) => ({ path: `layers/bi/big-${index}.txt`, text }));
	const meta = { smallkey: null, author: "a", time: local.now, subject: "big", trailers: [], request: null };
	await local.store.change(async () => edits, { ...meta, review: false });
	for (const { path, text } of edits) {
		assert.is((await runGit(local.repository, ["show", `main:${path}`])).toString("utf8"), text, path);
	}
});

test("a push and PUTs at the same moment: neither is lost", async ({ local, clone }) => {
	for (let round = 0; round < 5; round += 1) {
		await clone.commit({ [`layers/pu/pushed-${round}.json`]: wms("pushed") });
		const puts = Array.from({ length: 8 }, (_, index) => local.put(`put-${round}-${index}`));
		const [pushed, ...answers] = await Promise.all([clone.push(), ...puts]);
		assert.ok(answers.every((answer) => answer.status === 201));
		// The second one is built on the first: a late push is refused until it is rebased.
		for (let ok = pushed; !ok; ) {
			await clone.git("pull", "-q", "--rebase");
			ok = await clone.push();
		}
		const names = await local.git("ls-tree", "-r", "--name-only", "main");
		assert.match(names, `pushed-${round}.json`);
		for (let index = 0; index < 8; index += 1) assert.match(names, `put-${round}-${index}.json`);
		await eventually(() => status(local, `pushed-${round}`) === 200);
		await clone.git("pull", "-q", "--rebase");
	}
	assert.is(await local.git("fsck", "--strict", "--no-dangling"), "");
	assert.equal(local.reported, []);
});

test("a PUT that comes second is built on the pushed commit", async ({ local, clone }) => {
	await local.put("first");
	await clone.git("pull", "-q", "--rebase");
	await clone.commit({ "layers/pu/pushed.json": wms("pushed") });
	assert.ok(await clone.push());
	assert.is((await local.put("second")).status, 201);
	assert.is(await local.git("log", "-1", "--format=%s", "main~1"), "by hand");
	assert.is(status(local, "pushed"), 200);
});

test("a PUT decides on what was pushed: a key that differs in case is 409", async ({ local, clone }) => {
	await clone.commit({ "layers/ro/Roads.json": wms("roads") });
	assert.ok(await clone.push());
	assert.is((await local.put("roads")).status, 409);
	assert.is((await local.delete("one")).status, 204);
	assert.is((await local.delete("Roads")).status, 204);
});

test("forced pushes and deleting the branch are refused", async ({ local, clone }) => {
	await local.put("two");
	const before = await local.git("rev-parse", "main");
	await clone.commit({ "layers/th/three.json": wms("three") });
	assert.not(await clone.push(), "not a fast forward");
	assert.not(await clone.push("--force"));
	assert.not(await clone.push("origin", ":main"));
	assert.is(await local.git("rev-parse", "main"), before);
});

test("after a push of a wrong file the last good fragment is served, and the log says why", async (scene) => {
	const { local, clone } = scene;
	await clone.commit({
		"layers/on/one.json": wms("one").replace("http://", "ftp://"),
		"layers/xx/stray.json": manual,
		"layers/go/good.json": wms("good"),
	});
	await symlink("good.json", join(clone.path, "layers/go/goose.json"));
	await clone.commit({ "layers/On.json": manual });
	assert.ok(await clone.push());
	await eventually(() => status(local, "good") === 200 && local.warnings.length >= 4);
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"one"');
	for (const key of ["stray", "goose", "On"]) assert.is(status(local, key), 404, key);
	assert.is(await local.store.read("goose"), null, "a link's target is no layer");
	assert.is(await local.store.ids("goose"), null);
	const rule = 'must be an http or https address, not "ftp://wms.ess-ws.nrcan.gc.ca/wms/toporama_en"';
	assert.ok(
		local.warnings.includes(`layers/on/one.json: /en/service_url: ${rule}`),
		local.warnings.join("\n"),
	);
	assert.ok(local.warnings.includes("layers/xx/stray.json: must be at layers/st/stray.json"));
	assert.ok(local.warnings.includes("layers/go/goose.json: must be a plain file, not a symlink"));
	await local.restart();
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"one"', "after a restart, too");
	assert.is((await local.put("one", wms("mended"))).status, 201);
	assert.match(textOf(local.get("/v0.9/doc/en/one")), '"layerName":"mended"');
});

test("a restart keeps everything, whatever a killed writer left behind", async ({ local }) => {
	await local.put("two");
	await local.stop();
	const leftovers = [
		"refs/heads/main.lock",
		"packed-refs.lock",
		"config.lock",
		"objects/pack/tmp_pack_x",
		"fast_import_crash_1",
	];
	for (const name of leftovers) await writeFile(join(local.repository, name), "");
	const operators = join(local.repository, "objects/pack/pack-kept.keep");
	await writeFile(operators, "kept by the operator\n");
	await local.start();
	for (const name of leftovers) assert.not(existsSync(join(local.repository, name)), name);
	assert.ok(existsSync(operators));
	assert.is(status(local, "two"), 200);
	assert.is((await local.put("three")).status, 201);
	assert.is(await local.git("fsck", "--strict", "--no-dangling"), "");
});

test("a lock that a killed pusher left is no obstacle", async ({ local }) => {
	const lock = join(local.repository, "refs/heads/main.lock");
	await writeFile(lock, "");
	await utimes(lock, new Date(0), new Date(0));
	assert.is((await local.put("two")).status, 201);
	assert.is(status(local, "two"), 200);
});

test("acknowledged commits are made durable by git", async ({ local }) => {
	const expected = {
		"core.fsync": "committed",
		"receive.denynonfastforwards": "true",
		"receive.denydeletes": "true",
		"receive.fsckobjects": "true",
		"receive.autogc": "false",
		"receive.maxinputsize": String(256 << 20),
		"core.bigfilethreshold": String(8 << 20),
		"core.hookspath": "hooks",
		"gc.auto": "0",
	};
	for (const [name, value] of Object.entries(expected)) assert.is(await local.git("config", name), value);
});

test("packs are repacked at rest, and no process keeps the old ones open", async ({ local }) => {
	for (let round = 0; round < 55; round += 1) assert.is((await local.put(`layer-${round}`)).status, 201);
	const packs = async () => Number(/^packs: (\d+)$/m.exec(await local.git("count-objects", "-v"))?.[1]);
	assert.ok((await packs()) >= 50);
	await eventually(async () => (await packs()) < 10);
	await eventually(() => removedFilesOf(process.pid, local.repository).length === 0);
	assert.is((await local.put("after")).status, 201);
	assert.is(await local.git("rev-list", "--count", "main"), "57");
	assert.is(await local.git("fsck", "--strict", "--no-dangling"), "");
});

test.run();
