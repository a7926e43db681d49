import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { largeWhenStored } from "../../helpers/local.ts";
import { exits, runScript, warns } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("validate");

const good = {
	version: "1.0.0",
	payload_type: "wms",
	en: { service_url: "https://h.example/en", layer: "a" },
	fr: { service_url: "https://h.example/fr", layer: "a" },
};

async function write(path: string, content: unknown): Promise<string> {
	await mkdir(dirname(path), { recursive: true });
	await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
	return path;
}

test("a loose file is checked for its content, whatever its name and its place", async ({ folder }) => {
	const path = await write(join(folder, "my layer.txt"), good);
	const { code, stdout, stderr } = await runScript("validate", [path]);
	assert.equal([code, stdout, stderr], [0, "1 file, 0 problems\n", "Checking 1 named file\n"]);
	await write(path, { ...good, en: {} });
	const wrong = await exits(runScript("validate", [path]), 1);
	assert.is(wrong.stdout, "1 file, 2 problems\n");
});

test("in a folder called layers, the place is checked as well", async ({ folder }) => {
	const path = await write(join(folder, "layers/xy/abc.json"), good);
	const { stderr } = await exits(runScript("validate", [path]), 1);
	assert.is(stderr, "Checking 1 named file\nlayers/xy/abc.json: must be at layers/ab/abc.json\n");
});

test("a file of the last commit is judged as stored, and any other one as new", async ({ folder }) => {
	const stored = await write(join(folder, "layers/ab/ABC.json"), good);
	await write(join(folder, "layers/ab/abc.json"), good);
	for (const words of [
		["init", "-q"],
		["add", "."],
		["commit", "-qm", "Two spellings"],
	])
		execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t.example", ...words], { cwd: folder });
	assert.is((await runScript("validate", [stored])).stderr, "Checking 1 named file\n");
	const added = await write(join(folder, "layers/ab/aBc.json"), good);
	const { stderr } = await runScript("validate", [added]);
	assert.match(stderr, "aBc differs only in case from ABC, which is registered");
});

test("the size is measured in the form in which a registration is stored", async ({ folder }) => {
	const path = await write(join(folder, "a.json"), largeWhenStored);
	const { stderr } = await exits(runScript("validate", [path]), 1);
	assert.match(stderr, "the document must have at most 65536 bytes in the form in which it is stored, not ");
});

test("wrong JSON gets line and column", async ({ folder }) => {
	const path = await write(join(folder, "a.json"), '{\n  "version": "1.0.0",\n}');
	const { stderr } = await runScript("validate", [path]);
	assert.match(
		stderr,
		"the document must be JSON: line 3, column 1 must be a member's name in double quotes",
	);
});

test("an odd registration gives a warning, and the exit code stays 0", async ({ folder }) => {
	const en = { ...good.en, service_url: "https://h.example/wms?map=a" };
	const loose = await write(join(folder, "a.json"), { ...good, en });
	const placed = await write(join(folder, "layers/b/b.json"), { ...good, fr: good.en });
	const { stdout, stderr } = await exits(runScript("validate", [loose, placed]), 0);
	assert.is(stdout, "2 files, 0 problems, 2 warnings\n");
	assert.match(stderr, /^warning: .*a\.json: \/en\/service_url: has a query/m);
	assert.match(stderr, /^warning: layers\/b\/b\.json: \/fr\/service_url: is that of \/en/m);
});

test("in a named file, text that viewers take for markup is a problem", async ({ folder }) => {
	const path = await write(join(folder, "a.json"), { ...good, en: { ...good.en, service_name: "<b>" } });
	await warns(runScript("validate", [path]), 1, "/en/service_name: must not hold < before a letter");
});

test("the owners are checked, and a link is refused", async ({ folder }) => {
	const owners = await write(join(folder, "layers/owners.json"), { operators: [], layers: {} });
	const { stderr } = await exits(runScript("validate", [owners]), 1);
	assert.is(stderr, "Checking 1 named file\nlayers/owners.json: /operators: must have at least 1 entry\n");
	await symlink(owners, join(folder, "link.json"));
	assert.match((await runScript("validate", [join(folder, "link.json")])).stderr, "must be a plain file");
});

test("a folder is refused with the way to name its files", async ({ folder }) => {
	await warns(runScript("validate", [folder]), 2, `${folder}: is a folder; name its files: ${folder}/*.json`);
});

test("a missing file is reported as missing, not as a wrong registration", async ({ folder }) => {
	await warns(runScript("validate", [join(folder, "none.json")]), 2, "none.json");
});

test.run();
