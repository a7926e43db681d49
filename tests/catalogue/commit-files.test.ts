import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CommitFiles } from "../../catalogue/commit-files.ts";
import { catalogueSource } from "../../catalogue/source.ts";
import { runGit } from "../../git/run.ts";
import { listTree } from "../../git/tree.ts";
import { buildOutput } from "../../hosting/output.ts";
import { temporaryFolder, wms } from "../local.ts";

interface Context {
	folder: string;
	files: CommitFiles;
	commit: string;
	remove: () => Promise<void>;
}

const commitFiles = suite<Context>("some files of a commit");

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

commitFiles.before.each(async (context) => {
	const { path, remove } = await temporaryFolder();
	await git(path, "init", "-q", "-b", "main");
	await mkdir(join(path, "layers/ab"), { recursive: true });
	await symlink("owners.json", join(path, "layers/health.json"));
	context.commit = await commit(path, {
		"layers/owners.json": "{}\n",
		"layers/ab/abc.json": wms("rivers"),
		"layers/ab/below/x.json": "{}",
		"layers/23/23ax5t.json": wms("limits"),
	});
	Object.assign(context, { folder: path, remove, files: new CommitFiles(path, context.commit) });
});

commitFiles.after.each(async ({ files, remove }) => {
	await files.close();
	await remove();
});

commitFiles(
	"those of folders are what git lists there, sorted, and none of a folder that is not there",
	async ({ folder, files, commit }) => {
		const listed = await listTree(folder, commit, "layers/");
		const wanted = listed.filter(({ path }) => /^layers\/(?:ab|23)\/[^/]+$/.test(path));
		assert.equal(await files.list(["layers/ab", "layers/zz", "layers/23"]), wanted);
		assert.equal(await files.list(["layers/owners.json"]), []);
	},
);

commitFiles("one is found by its path, its content is read, and that of a link is not", async ({ files }) => {
	const found = await files.find([
		"layers/health.json",
		"layers/owners.json",
		"layers/none.json",
		"layers/ab",
	]);
	const [link, owners] = await files.read(found);
	assert.equal(
		found.map(({ path, mode }) => [path, mode]),
		[
			["layers/health.json", "120000"],
			["layers/owners.json", "100644"],
		],
	);
	assert.equal([link?.kind, link?.bytes.length], ["symlink", 0]);
	assert.is(Buffer.from(owners?.bytes ?? []).toString(), "{}\n");
});

commitFiles(
	"a catalogue is of the commit that the fragments beside it are of, wherever the branch is now",
	async ({ folder, commit: first }) => {
		const source = { repository: folder, ref: "refs/heads/main" };
		const out = join(folder, "dist");
		await buildOutput(source, out, { SITE: "off", DATA_DIR: join(folder, "data") });
		await commit(folder, { "layers/cd/cde.json": wms("lakes") });
		assert.equal((await catalogueSource(source, out)).layers, { repository: folder, commit: first });
	},
);

commitFiles.run();
