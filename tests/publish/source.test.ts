import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { lockFolder } from "../../service/lock.ts";
import { exits, prints, runScript, warns } from "../helpers/process.ts";
import { freshSuite, Repository, temporaryFolder } from "../helpers/world.ts";
import { wmsFile } from "../review/repository.ts";

interface Scene {
	folder: string;
	repository: Repository;
}

const test = freshSuite<Scene>("where layers come from, and where they go", async (use) => {
	const one = { "layers/on/one.json": wmsFile("a") };
	const two = { "layers/tw/two.json": wmsFile("b", "ftp://host.example") };
	return { folder: use(await temporaryFolder()).path, repository: use(new Repository({ ...one, ...two })) };
});

test("validate names what it checks: the checkout, a folder, a repository's commit, or files", async (scene) => {
	const { path } = scene.repository;
	const checkout = await exits(runScript("validate", []), 0);
	assert.is(checkout.stderr.split("\n")[0], "Checking layers/ of this checkout");
	await warns(runScript("validate", ["--layers", join(path, "layers")]), 1, [
		`Checking ${join(path, "layers")}\nlayers/tw/two.json: /en/service_url: must be`,
	]);
	const repository = await prints(runScript("validate", ["--repo", path]), 1, "2 files, 2 problems");
	assert.match(repository.stderr, `Checking the branch main of the repository ${path}\nlayers/tw/two.json: `);
	scene.repository.commit("mended", { "layers/tw/two.json": wmsFile("b") });
	await exits(runScript("validate", ["--repo", path]), 0);
	await exits(runScript("validate", ["--repo", path, "--ref", "main~1"]), 1);
	const named = await runScript("validate", [join(path, "layers/on/one.json")]);
	assert.match(named.stderr, /^Checking 1 named file\n/);
});

test("options that exclude each other are refused", async ({ repository: { path } }) => {
	for (const [words, said] of [
		[["--ref", "main"], /--ref: is for --repo/],
		[["--repo", path, "--layers", "layers"], /cannot be used with option/],
		[["--repo", path, "layers/to/toporama.json"], /both cannot be checked at once/],
		[["--repo", path, "--ref", "none"], /has no commit none/],
		[["--repo", join(path, "none")], /none: there is no such folder/],
	] as const) {
		await warns(runScript("validate", [...words]), 2, said);
	}
});

test("harvest writes to a folder of layers only, and says to which", async ({ folder, repository }) => {
	const bare = join(folder, "bare.git");
	repository.git("clone", "-q", "--bare", repository.path, bare);
	await warns(runScript("harvest", ["--repo", bare]), 2, "has no folder layers to write to");
	const done = await runScript("harvest", ["--repo", repository.path, "one"]);
	assert.match(done.stderr, `Harvesting into ${join(repository.path, "layers")}\n`);
});

test("a build goes into an empty folder or an earlier build only", async ({ folder, repository }) => {
	repository.commit("mended", { "layers/tw/two.json": wmsFile("b") });
	const build = (out: string) => runScript("build", ["--repo", repository.path, "--out", out]);
	const home = join(folder, "home");
	await mkdir(home);
	await writeFile(join(home, "thesis.txt"), "precious");
	await warns(build(home), 2, `--out: ${join(home, "thesis.txt")} is from no build; name an empty folder`);
	assert.equal(await readdir(home), ["thesis.txt"]);
	await exits(build(join(home, "thesis.txt")), 2);
	assert.is(await readFile(join(home, "thesis.txt"), "utf8"), "precious");

	const out = join(folder, "dist");
	await warns(build(out), 0, `Building the branch main of the repository ${repository.path} into ${out}\n`);
	await exits(build(out), 0);
});

test("a build into the folder of a running service is refused, and works once the service has ended", async (scene) => {
	scene.repository.commit("mended", { "layers/tw/two.json": wmsFile("b") });
	const out = join(scene.folder, "dist");
	const build = () => runScript("build", ["--repo", scene.repository.path, "--out", out]);
	const lock = await lockFolder(scene.folder);
	await warns(build(), 2, `--out: a service runs on ${scene.folder}, and writes ${out} itself`);
	assert.not.ok((await readdir(scene.folder)).includes("dist"));
	await lock.release();
	await exits(build(), 0);
});

test.run();
