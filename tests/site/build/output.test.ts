import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { buildOutput } from "../../../site/build/output.ts";
import { wms } from "../../helpers/handlers.ts";
import { prints, runScript } from "../../helpers/process.ts";
import { freshSuite, Repository } from "../../helpers/world.ts";

const test = freshSuite("the output of a build", (use) => {
	const repository = use(new Repository({ "layers/ab/abc.json": wms("rivers") }));
	return { repository, folder: repository.path, commit: repository.head };
});

const build = (folder: string, out: string) =>
	runScript("build", ["--layers", join(folder, "layers"), "--out", out]);

const pick = ({ written, catalogue }: Awaited<ReturnType<typeof buildOutput>>) => ({
	written,
	how: catalogue?.how,
});

const environment = (folder: string) => ({ DATA_DIR: join(folder, "data") });
const stateIn = async (out: string) => JSON.parse(await readFile(`${out}.catalogue`, "utf8"));

test("a folder without changes is built as its commit", async ({ repository, folder, commit }) => {
	const [layers, out] = [join(folder, "layers"), join(folder, "out/dist")];
	const built = () => buildOutput({ folder: layers }, out, environment(folder));
	const all = { same: 0, written: 10, removed: 0 };
	assert.equal(pick(await built()), { written: all, how: "all" });
	assert.is((await stateIn(out)).commit, commit);
	assert.equal(pick(await built()), { written: { ...all, written: 0 }, how: "nothing" });
	// A file of the output is not compared with the folder's.
	await rm(join(out, "v0.9/doc/en/abc"));
	assert.equal(pick(await built()), { written: { ...all, written: 0 }, how: "nothing" });
	repository.commit("change", { "layers/cd/cde.json": wms("lakes") });
	assert.equal(pick(await built()), { written: all, how: "layers" });
});

test("uncommitted changes are rendered, and a wrong file is refused", async ({ repository, folder }) => {
	const [layers, out] = [join(folder, "layers"), join(folder, "out/dist")];
	const built = () => buildOutput({ folder: layers }, out, environment(folder));
	await writeFile(join(layers, "ab/abc.json"), wms("ponds"));
	await built();
	const same = await built();
	assert.equal([same.written?.written, same.catalogue?.how], [0, "nothing"]);
	await writeFile(join(layers, "ab/abc.json"), wms("lakes"));
	assert.is((await built()).written?.written, 10);
	repository.commit("change", { "layers/cd/cde.json": "{}" });
	const { written, problems } = await built();
	assert.is(written, null);
	assert.match(problems.join(), "layers/cd/cde.json");
});

test("a build counts its files, and groups sick layers by owner", async ({ repository, folder }) => {
	const out = join(folder, "out");
	repository.commit("reviewers", {
		"layers/owners.json": '{"operators":["@org/all"],"layers":{"ab*":["@org/ab"]}}',
		"layers/health.json": '{"sick":{"abc":{"state":"down","since":"2026-W09"}}}',
	});
	await prints(build(folder, out), 0, /^1 layer in the catalogue: \d+ files written, 0 removed$/m);
	const { groups } = JSON.parse(await readFile(join(out, "index/health.json"), "utf8"));
	assert.is(groups[0].owner, "@org/ab");
});

test.run();
