import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { purposes } from "../../../api/service/extensions.ts";
import { allExtensions, commandsOf } from "../../../scripts/main.ts";
import { prints, root, runProgram, runScript, warns } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

const test = folderSuite("npx fragment-publisher");

const commands = commandsOf(allExtensions);

const runNode = (words: string[]) => runProgram(process.execPath, words);

test("--help and help list every command once, by its purpose, with what it does", async () => {
	const { stdout } = await prints(runScript("--help", []), 0);
	for (const purpose of purposes) {
		const [, group = ""] = stdout.split(`\nTo ${purpose}:\n`);
		const text = (group.split("\n\n")[0] ?? "").replace(/\s+/g, " ");
		const listed = commands.filter(([, other]) => other === purpose);
		const expected = listed.map(([name, , summary]) => ` ${name} ${summary}`);
		assert.is(text, expected.join(""));
	}
	assert.match(stdout, /To publish:[^:]*\n {2}register /);
	assert.is((await runScript("help", [])).stdout, stdout);
	assert.is((await runScript("help", ["put"])).stdout, (await runScript("put", ["--help"])).stdout);
});

test("an unknown command is refused with the nearest one named", async () => {
	await warns(runScript("putt", []), 2, /^error: unknown command 'putt'\n\(Did you mean put\?\)\n/);
});

test("every command prints its help with any settings, and names the nearest option", async () => {
	for (const [name, , summary] of commands) {
		const help = await runScript(name, ["--help"], { PORT: "none", SENDERS: "none" });
		assert.equal([help.code, help.stderr], [0, ""], name);
		assert.ok(help.stdout.startsWith(`Usage: npx fragment-publisher ${name} `), help.stdout);
		assert.match(help.stdout.replace(/\s+/g, " ").toLowerCase(), ` ${summary.toLowerCase()}. `);
		const text = `error: unknown option '--hepl'\n(Did you mean --help?)\nnpx fragment-publisher ${name} --help lists the options\n`;
		assert.equal(await runScript(name, ["--hepl"]), { code: 2, stdout: "", stderr: text });
	}
});

test("a start on an old Node, and one before npm ci, are refused in one line", async ({ folder }) => {
	const disguise = join(folder, "disguise.cjs");
	const versions = '{ ...process.versions, node: "18.20.4" }';
	await writeFile(disguise, `Object.defineProperty(process, "versions", { value: ${versions} });`);
	const old = await runNode(["--require", disguise, "scripts/fragments.cjs", "--help"]);
	const stderr = "Node 20.11 or newer is needed, and this is 18.20.4: https://nodejs.org\n";
	assert.equal(old, { code: 2, stdout: "", stderr });
	await mkdir(join(folder, "scripts"));
	for (const name of ["package.json", "scripts/fragments.cjs"])
		await cp(join(root, name), join(folder, name));
	const bare = await runNode([join(folder, "scripts/fragments.cjs"), "serve"]);
	assert.equal(bare, { code: 2, stdout: "", stderr: "The package tsx is missing: run npm ci first\n" });
});

test.run();
