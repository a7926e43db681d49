import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { catalogueSource } from "../../catalogue/read-layers.ts";
import { buildOutput } from "../../scripts/host/output.ts";
import { runGit } from "../../system/git/run.ts";
import { temporaryFolder, wms } from "../local.ts";

const source = suite<{ folder: string; commit: string; remove: () => Promise<void> }>(
	"source of a catalogue",
);

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

source(
	"a catalogue is of the commit that the fragments beside it are of, wherever the branch is now",
	async ({ folder, commit: first }) => {
		const given = { repository: folder, ref: "refs/heads/main" };
		const out = join(folder, "dist");
		await buildOutput(given, out, { SITE: "off", DATA_DIR: join(folder, "data") });
		await commit(folder, { "layers/cd/cde.json": wms("lakes") });
		assert.equal(await catalogueSource(given, out), { repository: folder, commit: first });
	},
);

source.run();
