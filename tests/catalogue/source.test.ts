import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { buildOutput } from "../../scripts/host/output.ts";
import { runGit } from "../../system/git/run.ts";
import { temporaryFolder, wms } from "../local.ts";

const source = suite<{ folder: string; commit: string; remove: () => Promise<void> }>("source of a build");

async function git(folder: string, ...args: string[]): Promise<string> {
	return (await runGit(folder, args)).toString("utf8").trim();
}

async function commit(folder: string, files: Record<string, string>): Promise<string> {
	for (const [path, text] of Object.entries(files)) {
		await mkdir(join(folder, path, ".."), { recursive: true });
		await writeFile(join(folder, path), text);
	}
	await git(folder, "add", "-A");
	await git(folder, "-c", "user.name=t", "-c", "user.email=t@example.ca", "commit", "-q", "-m", "change");
	return git(folder, "rev-parse", "HEAD");
}

source.before.each(async (context) => {
	const { path, remove } = await temporaryFolder();
	await git(path, "init", "-q", "-b", "main");
	const first = await commit(path, { "layers/ab/abc.json": wms("rivers") });
	Object.assign(context, { folder: path, remove, commit: first });
});
source.after.each(({ remove }) => remove());

const environment = (folder: string) => ({ DATA_DIR: join(folder, "data") });
const stateIn = async (out: string) => JSON.parse(await readFile(`${out}.catalogue`, "utf8"));

source(
	"a catalogue is of the commit that the fragments beside it are of",
	async ({ folder, commit: first }) => {
		const out = join(folder, "out/dist");
		await buildOutput({ repository: folder, ref: first }, out, environment(folder));
		await commit(folder, { "layers/cd/cde.json": wms("lakes") });
		await buildOutput({ repository: folder, ref: first }, out, environment(folder));
		assert.is((await stateIn(out)).commit, first);
	},
);

source("a folder without uncommitted changes is built as its commit", async ({ folder, commit: first }) => {
	const [layers, out] = [join(folder, "layers"), join(folder, "out/dist")];
	const built = () => buildOutput({ folder: layers }, out, environment(folder));
	const all = { written: 10, removed: 0, unchanged: 0 };
	assert.equal(pick(await built()), { written: all, how: "all" });
	assert.is((await stateIn(out)).commit, first);
	assert.equal(pick(await built()), { written: { ...all, written: 0, unchanged: 10 }, how: "nothing" });
	// A file of the output is not compared with the folder's.
	await rm(join(out, "v0.9/doc/en/abc"));
	assert.equal(pick(await built()), { written: { ...all, written: 0, unchanged: 10 }, how: "nothing" });
	await commit(folder, { "layers/cd/cde.json": wms("lakes") });
	assert.equal(pick(await built()), { written: { ...all, unchanged: 10 }, how: "changes" });
});

source(
	"a folder with uncommitted changes is compared file by file, and a wrong file is refused",
	async ({ folder }) => {
		const [layers, out] = [join(folder, "layers"), join(folder, "out/dist")];
		const built = () => buildOutput({ folder: layers }, out, environment(folder));
		await built();
		await writeFile(join(layers, "ab/abc.json"), wms("rivers").replace("rivers", "ponds"));
		assert.is((await built()).written?.written, 5);
		await rm(join(out, "v0.9/doc/en/abc"));
		assert.is((await built()).written?.written, 1);
		await git(folder, "checkout", "-q", ".");
		assert.is((await built()).written?.written, 5);
		await commit(folder, { "layers/cd/cde.json": "{}" });
		const { written, problems } = await built();
		assert.is(written, null);
		assert.match(problems.join(), "layers/cd/cde.json");
	},
);

const pick = ({ written, catalogue }: Awaited<ReturnType<typeof buildOutput>>) => ({
	written,
	how: catalogue?.how,
});

source.run();
