import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { ownersFile, wmsFile } from "../extensions/review/repository.ts";
import { exits, prints, root, runScript, warns } from "../helpers/process.ts";
import { filesIn, freshSuite, Repository, temporaryFolder } from "../helpers/world.ts";
import { describedAt } from "../registry/targets/samples.ts";

let repository: Repository;
let out: string;

const test = freshSuite("a build of a commit", async (use) => {
	out = join(use(await temporaryFolder()).path, "out");
	const layers = { "layers/aa/aaa.json": wmsFile("first"), "layers/bb/bbb.json": wmsFile("other") };
	repository = use(new Repository({ "layers/owners.json": ownersFile, ...layers }));
});

const build = (...words: string[]) =>
	runScript("build", ["--repo", repository.path, "--out", out, ...words], { SITE: "off" });

/** The layer of an English fragment of the output, or null. */
function readServed(smallkey: string): string | null {
	const path = join(out, "v0.9/doc/en", smallkey);
	return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).layers.wms[0].layerName : null;
}

test("any commit is built, forwards and back, as a folder of the same files is", async () => {
	repository.commit("more", { "layers/cc/ccc.json": wmsFile("third"), "layers/aa/aaa.json": null });
	await exits(build("--ref", "main~1"), 0);
	assert.equal(["aaa", "ccc"].map(readServed), ["first", null]);
	await prints(build(), 0, /^(\d+) written, \1 removed/);
	assert.equal(["aaa", "ccc"].map(readServed), [null, "third"]);
	const other = `${out}-other`;
	const folder = ["--layers", join(repository.path, "layers"), "--out", other];
	await exits(runScript("build", folder, { SITE: "off" }), 0);
	assert.equal(filesIn(other), filesIn(out));
	await exits(build("--ref", "main~1"), 0);
	assert.equal(["aaa", "ccc"].map(readServed), ["first", null]);
	for (const ref of ["none", "--help", "main:layers"]) await warns(build(`--ref=${ref}`), 2, "has no commit");
	rmSync(other, { recursive: true });
});

test("a wrong file is served in its last valid form, one that never was valid is not served, and all others are", async () => {
	repository.commit("change", { "layers/aa/aaa.json": wmsFile("second") });
	repository.commit("break", {
		"layers/aa/aaa.json": "{",
		"layers/bb/bbb.json": wmsFile("newer"),
		"layers/bb/bbb.service.json": "{",
		"layers/cc/ccc.json": '{"version": "1.0.0"}',
		"layers/dd/DDD.json": wmsFile("twin"),
		"layers/dd/ddd.json": wmsFile("second twin"),
		"layers/ee/eee.json": { link: "../bb/bbb.json" },
		"layers/xx/fff.json": wmsFile("misplaced"),
	});
	await warns(build(), 1, [
		/^layers\/aa\/aaa\.json: the document: must be JSON: /m,
		...["bb/bbb.service", "cc/ccc", "dd/ddd", "ee/eee", "xx/fff"].map((name) => `\nlayers/${name}.json: `),
		"those files are served in their last valid form, or not at all",
	]);
	const keys = ["aaa", "bbb", "ccc", "DDD", "ddd", "eee", "fff"];
	assert.equal(keys.map(readServed), ["second", "newer", null, "twin", null, null, null]);
});

test("while a file stays wrong, only changed layers are built, and the file is named each time", async () => {
	repository.commit("more, and break", { "layers/mm/mmm.json": wmsFile("more"), "layers/aa/aaa.json": "{" });
	await exits(build(), 1);
	// A file of a layer that does not change: a whole build would correct it.
	const other = join(out, "v0.9/doc/en/mmm");
	writeFileSync(other, readFileSync(other, "utf8").replaceAll("more", "left"));
	repository.commit("change another", { "layers/bb/bbb.json": wmsFile("newer"), "layers/cc/ccc.json": "{" });
	for (const key of ["aaa", "ccc"])
		await warns(build(), 1, `layers/${key.slice(0, 2)}/${key}.json: the document: must be JSON`);
	assert.equal(["aaa", "bbb", "ccc", "mmm"].map(readServed), ["first", "newer", null, "left"]);
	repository.commit("correct", {
		"layers/aa/aaa.json": wmsFile("right"),
		"layers/cc/ccc.json": wmsFile("good"),
	});
	await exits(build(), 0);
	assert.equal(["aaa", "bbb", "ccc", "mmm"].map(readServed), ["right", "newer", "good", "left"]);
	writeFileSync(`${out}.manifest`, '{"renderer":');
	await exits(build(), 0);
	assert.is(readServed("mmm"), "more");
});

test("a layer removed before its file turned wrong stays removed; the last valid form has its description", async () => {
	const layer = readFileSync(join(root, "tests/fixtures/layers/oz/ozone.json"), "utf8");
	repository.commit("remove, and describe", {
		"layers/aa/aaa.json": null,
		"layers/oz/ozone.json": layer,
		"layers/oz/ozone.service.json": JSON.stringify(describedAt(JSON.parse(layer).en.service_url)),
	});
	await exits(build(), 0);
	const fragment = () => readFileSync(join(out, "v0.9/doc/en/ozone"), "utf8");
	const before = fragment();
	repository.commit("break", { "layers/aa/aaa.json": "{", "layers/oz/ozone.json": "{" });
	for (const time of ["after the last build", "from nothing"]) {
		await exits(build(), 1);
		assert.equal([readServed("aaa"), fragment()], [null, before], time);
		rmSync(out, { recursive: true });
	}
});

test("when no file is valid, or too many are wrong, nothing is written", async () => {
	await exits(build(), 0);
	const many = Array.from({ length: 201 }, (_, index) => [`layers/zz/zz${index}.json`, "{"] as const);
	repository.commit("break", Object.fromEntries(many));
	await warns(build(), 1, "201 problems; nothing was written");
	repository.git("checkout", "-q", "--orphan", "fresh");
	repository.git("rm", "-rfq", ".");
	repository.commit("never good", { "layers/aa/aaa.json": "{" });
	await warns(build("--ref", "fresh"), 1, "1 problem; nothing was written");
	assert.is(readServed("aaa"), "first");
});

test.run();
