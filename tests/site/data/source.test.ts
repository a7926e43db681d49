import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { buildOutput } from "../../../site/build/output.ts";
import { wms } from "../../helpers/handlers.ts";
import { freshSuite, Repository } from "../../helpers/world.ts";

const test = freshSuite("source of a build", (use) => {
	const repository = use(new Repository({ "layers/ab/abc.json": wms("rivers") }));
	return { repository, folder: repository.path, commit: repository.head };
});

const environment = (folder: string) => ({ DATA_DIR: join(folder, "data") });
const stateIn = async (out: string) => JSON.parse(await readFile(`${out}.catalogue`, "utf8"));

test("a folder without uncommitted changes is built as its commit", async ({
	repository,
	folder,
	commit,
}) => {
	const [layers, out] = [join(folder, "layers"), join(folder, "out/dist")];
	const built = () => buildOutput({ folder: layers }, out, environment(folder));
	const all = { written: 10, removed: 0, unchanged: 0 };
	assert.equal(pick(await built()), { written: all, how: "all" });
	assert.is((await stateIn(out)).commit, commit);
	assert.equal(pick(await built()), { written: { ...all, written: 0, unchanged: 10 }, how: "nothing" });
	// A file of the output is not compared with the folder's.
	await rm(join(out, "v0.9/doc/en/abc"));
	assert.equal(pick(await built()), { written: { ...all, written: 0, unchanged: 10 }, how: "nothing" });
	repository.commit("change", { "layers/cd/cde.json": wms("lakes") });
	assert.equal(pick(await built()), { written: { ...all, unchanged: 10 }, how: "layers" });
});

test("a folder with uncommitted changes is rendered again once a file differs, and a wrong file is refused", async ({
	repository,
	folder,
}) => {
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

const pick = ({ written, catalogue }: Awaited<ReturnType<typeof buildOutput>>) => ({
	written,
	how: catalogue?.how,
});

test.run();
