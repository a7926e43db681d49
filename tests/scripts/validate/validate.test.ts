import { symlink } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { wmsFile } from "../../extensions/review/repository.ts";
import { prints, runScript, warns } from "../../helpers/process.ts";
import { folderSuite, writeFiles } from "../../helpers/world.ts";

const test = folderSuite("validate");
const validate = (...words: string[]) => runScript("validate", words);

test("a named file is checked for its content, and in layers for its place", async ({ folder }) => {
	const url = "https://h.example/wms?map=a";
	for (const [name, text, code, count, line] of [
		["my layer.txt", wmsFile("a"), 0, "0 problems", "Checking 1 named file"],
		["a.json", "{}", 1, "4 problems", "/version: is missing"],
		["a.json", wmsFile("a", url), 0, "0 problems, 2 warnings", "a.json: /en/service_url: has a query"],
		["layers/owners.json", '{"operators":[],"layers":{}}', 1, "1 problem", "/operators: must not be empty"],
	] as const) {
		writeFiles(folder, { [name]: text });
		const ended = await prints(validate(join(folder, name)), code, `1 file, ${count}`);
		assert.match(ended.stderr, line);
	}
	await symlink(join(folder, "a.json"), join(folder, "link.json"));
	await warns(validate(join(folder, "link.json")), 1, "must be a plain file");
	await warns(validate(folder), 2, `${folder}: is a folder; name its files: ${folder}/*.json`);
	await warns(validate(join(folder, "none.json")), 2, "none.json");
});

test("a file in layers is judged at its path", async ({ folder }) => {
	const [misplaced = "", reserved = "", placed = ""] = ["ab/cde", "co/con", "ab/abd"].map(
		(name) => `layers/${name}.json`,
	);
	for (const name of [misplaced, reserved, placed]) writeFiles(folder, { [name]: wmsFile("a") });
	await warns(validate(join(folder, misplaced)), 1, "must be at layers/cd/cde.json");
	await warns(validate(join(folder, reserved)), 1, "Windows keeps for a device");
	await prints(validate(join(folder, placed)), 0, "1 file, 0 problems");
});

test("without a file the layers of the checkout are checked", async () => {
	await warns(prints(validate(), 0, /^\d+ files, 0 problems/), 0, /^Checking layers\/ of this checkout\n/);
});

test.run();
