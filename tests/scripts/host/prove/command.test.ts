import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { chooseLayers } from "../../../../scripts/prove.ts";
import { exits, root, runScript, runScriptProcess } from "../../../helpers/process.ts";
import { folderSuite } from "../../../helpers/world.ts";

const test = folderSuite("npx fragment-publisher prove");

const layers = Array.from({ length: 1_000 }, (_, at) => ({ smallkey: `layer${at}` }));
const [monday, tuesday] = [new Date("2026-03-02T12:00:00Z"), new Date("2026-03-03T12:00:00Z")];
const keysOf = (chosen: { smallkey: string }[]) => chosen.map(({ smallkey }) => smallkey);
const part = (number: number, from = layers) =>
	keysOf(chooseLayers(from, { part: { number, of: 7 } }, monday));

test("seven parts have every layer once, about as many each, and a layer stays in its part", () => {
	const parts = [1, 2, 3, 4, 5, 6, 7].map((number) => part(number));
	assert.equal(parts.flat().sort(), keysOf(layers).sort());
	for (const { length } of parts) assert.ok(length > 100 && length < 190, `${length} layers`);
	const fewer = layers.filter((_, at) => at % 3 > 0);
	const present = new Set(keysOf(fewer));
	const expected = part(3).filter((smallkey) => present.has(smallkey));
	assert.equal(part(3, fewer), expected);
});

test("a sample is the same all day, another one the next day, and can be of a part", () => {
	const sample = (now: Date) => keysOf(chooseLayers(layers, { sample: 20 }, now));
	assert.is(new Set(sample(monday)).size, 20);
	assert.equal(sample(monday), sample(new Date("2026-03-02T23:59:59Z")));
	assert.ok(sample(tuesday).filter((smallkey) => sample(monday).includes(smallkey)).length < 5);
	const ofPart = keysOf(chooseLayers(layers, { part: { number: 2, of: 7 }, sample: 5 }, monday));
	assert.is(ofPart.filter((smallkey) => part(2).includes(smallkey)).length, 5);
	assert.is(chooseLayers(layers, { sample: 5_000 }, monday).length, 1_000);
});

test("an impossible part is refused, and nothing is written", async ({ folder }) => {
	for (const wrong of ["0/7", "8/7", "3", "3/7x", "-1/7"]) {
		const { stderr } = await exits(runScript("prove", ["--part", wrong, "--out", join(folder, "out")]), 2);
		assert.match(stderr, "It must be a part of all, such as 3/7.");
	}
	assert.not.ok(existsSync(join(folder, "out")));
});

test("without Chromium the command says what to install, writes nothing, and a build works", async ({
	folder,
}) => {
	const env = {
		NODE_OPTIONS: `--require ${join(root, "tests/scripts/host/prove/no-browser.cjs")}`,
		DATA_DIR: folder,
	};
	const proved = await exits(runScriptProcess("prove", ["--out", join(folder, "pictures")], env), 2);
	assert.is(
		proved.stderr.trim(),
		"there is no Chromium: install it (Debian: apt-get install chromium-headless-shell; Ubuntu: Google Chrome), or name it in BROWSER_PATH",
	);
	const given = await runScript("prove", ["--out", join(folder, "pictures")], {
		BROWSER_PATH: join(folder, "no"),
	});
	assert.equal(
		[given.code, given.stderr.trim()],
		[2, `BROWSER_PATH: there is no file ${join(folder, "no")}`],
	);
	assert.not.ok(existsSync(join(folder, "pictures")));
	await exits(runScriptProcess("build", ["--out", join(folder, "dist")], env), 0);
	assert.match(await readFile(join(folder, "dist/en/index.html"), "utf8"), "<html");
});

test.run();
