import { execFile } from "node:child_process";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Pack } from "../../git/pack.ts";
import { runGit } from "../../git/run.ts";
import { syncPath } from "../../git/sync.ts";
import { DiskTimeout, writePack } from "../../git/write-pack.ts";
import { temporaryFolder } from "../local.ts";

const run = promisify(execFile);

const packs = suite<{ repository: string; packed: () => Promise<string[]>; remove: () => Promise<void> }>(
	"packs on the disk",
);

packs.before.each(async (context) => {
	const { path, remove } = await temporaryFolder();
	await runGit(path, ["init", "-q", "--bare", "."]);
	await mkdir(join(path, "objects/pack"), { recursive: true });
	Object.assign(context, { repository: path, remove, packed: () => readdir(join(path, "objects/pack")) });
});
packs.after.each(({ remove }) => remove());

function packOf(text: string): { pack: Pack; id: string } {
	const pack = new Pack("sha1");
	return { pack, id: pack.add("blob", Buffer.from(text)) };
}

packs("are read by git, once and again", async ({ repository, packed }) => {
	const { pack, id } = packOf("a layer");
	const { name } = pack.files();
	await writePack(repository, pack.files(), syncPath, 60_000);
	assert.equal((await packed()).sort(), [`pack-${name}.idx`, `pack-${name}.pack`]);
	assert.is((await runGit(repository, ["cat-file", "blob", id])).toString(), "a layer");
	await writePack(repository, pack.files(), syncPath, 60_000);
	await runGit(repository, ["verify-pack", join("objects/pack", `pack-${name}.idx`)]);
});

packs(
	"of two attempts at the same are whole, the second while the first still waits",
	async ({ repository, packed }) => {
		const { pack } = packOf("a layer");
		const { name } = pack.files();
		const attempts = [1, 2, 3, 4].map(() => writePack(repository, pack.files(), syncPath, 60_000));
		await Promise.all(attempts);
		assert.equal((await packed()).sort(), [`pack-${name}.idx`, `pack-${name}.pack`]);
		await runGit(repository, ["verify-pack", join("objects/pack", `pack-${name}.idx`)]);
	},
);

packs("that find no room for all of them are not there at all", async ({ repository, packed }) => {
	// A file may have 64 blocks of a kilobyte: what is beyond is not written, as on a disk that becomes full.
	const words = ["--import", "tsx", "tests/git/pack-writer.ts", repository];
	const script = 'ulimit -f 64 && exec "$@"';
	const { stdout } = await run("bash", ["-c", script, "bash", process.execPath, ...words]);
	assert.is(stdout, "EFBIG\n");
	assert.equal(await packed(), []);
});

packs("wait for a disk that does not answer for a time", async ({ repository }) => {
	const never = () => new Promise<void>(() => undefined);
	const error = await writePack(repository, packOf("a layer").pack.files(), never, 50).catch(
		(error) => error,
	);
	assert.instance(error, DiskTimeout);
	assert.match(String(error), "was not on the disk within 0.05 s");
});

packs.run();
