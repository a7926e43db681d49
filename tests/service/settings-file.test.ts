import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { withSettingsFile } from "../../service/settings.ts";
import { runScriptProcess } from "../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../helpers/world.ts";

const test = freshSuite("fragments.env", async (use) => ({ folder: use(await temporaryFolder()).path }));

test("a command in the folder of a service changes that service's data, and says which", async (scene) => {
	const { folder } = scene;
	const data = join(folder, "data");
	await mkdir(data);
	await writeFile(join(folder, "fragments.env"), `# The service\nDATA_DIR=${data}\n`);
	const added = await runScriptProcess("sender", ["add", "energy", "--all-layers"], {}, folder);
	assert.is(added.code, 0, added.stderr);
	assert.match(added.stdout, `energy is in ${data}/senders.json; `);
	assert.match(added.stdout, `\nno service runs in ${data} now\n`);
	assert.match(await readFile(join(data, "senders.json"), "utf8"), '"energy"');
	assert.equal((await readdir(folder)).sort(), ["data", "fragments.env"]);

	const env = { DATA_DIR: join(folder, "dtaa") };
	const other = await runScriptProcess("sender", ["add", "forest", "--all-layers"], env, folder);
	assert.is(other.code, 2);
	assert.match(
		other.stderr,
		`DATA_DIR: there is no folder ${env.DATA_DIR}, and ${folder}/fragments.env names ${data}.`,
	);
	assert.equal((await readdir(folder)).sort(), ["data", "fragments.env"]);
	assert.not.match(await readFile(join(data, "senders.json"), "utf8"), "forest");
});

test("variables of the environment win, and a line of another form is refused without its text", async (scene) => {
	const { folder } = scene;
	await writeFile(join(folder, "fragments.env"), '\n; x\nPORT=1\nHOST="::1"\n BASE_PATH = /rcs\n');
	assert.throws(() => withSettingsFile({}, folder), /fragments\.env: line 5: must be NAME=value$/);
	await writeFile(join(folder, "fragments.env"), '\n; x\nPORT=1\nHOST="::1"\n BASE_PATH=/rcs \r\n');
	assert.equal(withSettingsFile({ PORT: "2" }, folder), { PORT: "2", HOST: "::1", BASE_PATH: "/rcs" });
	assert.equal(withSettingsFile({ PORT: "2" }, join(folder, "none")), { PORT: "2" });
});

test.run();
