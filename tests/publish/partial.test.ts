import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { exits, prints, root, runScript, warns } from "../helpers/process.ts";
import { type Files, freshSuite, Repository, temporaryFolder } from "../helpers/world.ts";
import { ownersFile, wmsFile } from "../review/repository.ts";

let repository: Repository;
let out: string;

const test = freshSuite("a build of a commit with wrong files", async (use) => {
	out = join(use(await temporaryFolder()).path, "out");
	const layers = { "layers/aa/aaa.json": wmsFile("first"), "layers/bb/bbb.json": wmsFile("other") };
	repository = use(new Repository({ "layers/owners.json": ownersFile, ...layers }));
});

const build = () => runScript("build", ["--repo", repository.path, "--out", out], { SITE: "off" });

/** The layer of an English fragment of the output, or null. */
function served(smallkey: string): string | null {
	const path = join(out, "v0.9/doc/en", smallkey);
	return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).layers.wms[0].layerName : null;
}

test("a file that was valid once is served in its last valid form, one that never was is not served, and all others are", async () => {
	repository.commit("change", { "layers/aa/aaa.json": wmsFile("second") });
	repository.commit("break", {
		"layers/aa/aaa.json": "{",
		"layers/cc/ccc.json": '{"version": "1.0.0"}',
		"layers/bb/bbb.json": wmsFile("newer"),
		"layers/xx/ddd.json": wmsFile("misplaced"),
	});
	const { stderr } = await prints(build(), 1, /^\d+ written, 0 unchanged, 0 removed$/m);
	assert.match(stderr, /^layers\/aa\/aaa\.json: the document must be JSON: /m);
	assert.match(stderr, /^layers\/cc\/ccc\.json: \/payload_type: is missing$/m);
	assert.match(stderr, /^layers\/xx\/ddd\.json: must be at layers\/dd\/ddd\.json$/m);
	assert.match(stderr, "those files are served in their last valid form, or not at all");
	assert.equal(["aaa", "bbb", "ccc", "ddd"].map(served), ["second", "newer", null, null]);
});

test("a wrong file is named again at each build until it is corrected, and what follows is built", async () => {
	await exits(build(), 0);
	repository.commit("break", { "layers/aa/aaa.json": "{" });
	await exits(build(), 1);
	const again = await build();
	assert.is(again.code, 1, "the same commit");
	assert.match(again.stderr, "layers/aa/aaa.json");
	repository.commit("change another", { "layers/bb/bbb.json": wmsFile("newer") });
	await exits(build(), 1);
	assert.equal(["aaa", "bbb"].map(served), ["first", "newer"]);
	repository.commit("mend", { "layers/aa/aaa.json": wmsFile("mended") });
	await exits(build(), 0);
	assert.equal(["aaa", "bbb"].map(served), ["mended", "newer"]);
});

test("while a file stays wrong, only changed layers are built, and the file is named each time", async () => {
	const more = Array.from({ length: 3 }, (_, index) => [`layers/m${index}/m${index}x.json`, wmsFile("more")]);
	repository.commit("more, and break", { ...Object.fromEntries(more), "layers/aa/aaa.json": "{" });
	await exits(build(), 1);
	// A file of a layer that does not change: a whole build would correct it.
	const other = join(out, "v0.9/doc/en/m1x");
	writeFileSync(other, readFileSync(other, "utf8").replaceAll("more", "left"));
	repository.commit("change another", { "layers/bb/bbb.json": wmsFile("newer"), "layers/cc/ccc.json": "{" });
	const { stderr } = await warns(build(), 1, "layers/aa/aaa.json: the document must be JSON");
	assert.match(stderr, "layers/cc/ccc.json: the document must be JSON");
	assert.equal(["aaa", "bbb", "ccc", "m0x", "m1x"].map(served), ["first", "newer", null, "more", "left"]);
	const same = await build();
	assert.is(same.code, 1, "the same commit");
	assert.match(same.stderr, "layers/cc/ccc.json");
	repository.commit("mend one", { "layers/aa/aaa.json": wmsFile("mended"), "layers/m0/m0x.json": null });
	await exits(build(), 1);
	assert.equal(["aaa", "bbb", "ccc", "m0x", "m1x"].map(served), ["mended", "newer", null, null, "left"]);
	repository.commit("mend all", { "layers/cc/ccc.json": wmsFile("good") });
	const mended = await build();
	assert.equal([mended.code, mended.stdout.match(/\d+ removed/)?.[0]], [0, "0 removed"], mended.stderr);
	assert.equal(["aaa", "bbb", "ccc", "m0x", "m1x"].map(served), ["mended", "newer", "good", null, "left"]);
});

test("a layer removed before its file turned wrong stays removed, and a link is no layer", async () => {
	repository.commit("remove", { "layers/aa/aaa.json": null });
	repository.commit("break", {
		"layers/aa/aaa.json": "{",
		"layers/bb/bbb.json": { link: "../aa/aaa.json" },
	});
	await warns(build(), 1, "layers/bb/bbb.json: must be a plain file, not a symlink");
	assert.equal(["aaa", "bbb"].map(served), [null, "other"]);
});

test("of keys that differ only in case the first is built, and a wrong description is left out", async () => {
	repository.commit("twins", {
		"layers/aa/AAA.json": wmsFile("twin"),
		"layers/bb/bbb.service.json": "{",
	});
	await warns(build(), 1, [
		"layers/aa/aaa.json: smallkey: aaa differs only in case from AAA, which is registered",
		"layers/bb/bbb.service.json: must be a service description",
	]);
	assert.equal(["AAA", "aaa", "bbb"].map(served), ["twin", null, "other"]);
});

test("the last valid form has its harvested description, and a description alone is named", async () => {
	const fixture = (path: string) => readFileSync(join(root, "tests/fixtures", path), "utf8");
	repository.commit("described", {
		"layers/oz/ozone.json": fixture("layers/oz/ozone.json"),
		"layers/oz/ozone.service.json": fixture("descriptions/oz/ozone.service.json"),
	});
	await exits(build(), 0);
	const fragment = () => readFileSync(join(out, "v0.9/doc/en/ozone"), "utf8");
	const before = fragment();
	repository.commit("break", { "layers/oz/ozone.json": "{", "layers/aa/aaa.service.json": "{}" });
	await exits(build(), 1);
	assert.is(fragment(), before);
	rmSync(out, { recursive: true });
	await exits(build(), 1);
	assert.is(fragment(), before, "from nothing, too");
	repository.commit("alone", { "layers/aa/aaa.json": null });
	const alone = await build();
	assert.match(
		alone.stderr,
		"layers/aa/aaa.service.json: describes a layer that is not at layers/aa/aaa.json",
	);
});

test("when no file is valid, or too many are wrong, nothing is written", async () => {
	await exits(build(), 0);
	const many = Array.from({ length: 201 }, (_, index): [string, string] => [
		`layers/zz/zz${index}.json`,
		"{",
	]);
	repository.commit("break", Object.fromEntries(many) as Files);
	await warns(build(), 1, "201 problems; nothing was written");
	assert.is(served("aaa"), "first");
	repository.git("checkout", "-q", "--orphan", "fresh");
	repository.git("rm", "-rfq", ".");
	repository.commit("never good", { "layers/aa/aaa.json": "{" });
	repository.git("branch", "-M", "main");
	const never = await build();
	assert.match(never.stderr, "1 problem; nothing was written");
	assert.is(served("aaa"), "first");
});

test.run();
