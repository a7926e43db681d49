import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { runGit } from "../../system/git/run.ts";
import { copyLayers, wms } from "../helpers/local.ts";
import { runScript, ServerProcess } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { temporaryFolder } from "../helpers/world.ts";

test("the start says which layers it serves, which examples are not there, and how to bring them in", async () => {
	await using folder = await temporaryFolder();
	const { path } = folder;
	await copyLayers(path);
	const DATA_DIR = join(path, ".data");
	const repository = join(DATA_DIR, "repository.git");
	const first = await ServerProcess.start({}, path);
	assert.is(await first.stop(), 0);
	assert.match(first.output, `\nLayers: the branch main of ${repository}\n`);
	assert.not.match(first.output, "not there", "the first start has them all");
	assert.match(first.output, "Register a first layer");
	assert.match(first.output, "Serving 22 layers at ");

	// A repository of other layers, as an older checkout would have left it.
	await rm(repository, { recursive: true });
	await runGit(DATA_DIR, ["init", "-q", "--bare", "--initial-branch=main", "repository.git"]);
	const text = wms("own");
	const stream = `commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 1\nx\nM 100644 inline ${layerPath("own")}\ndata ${text.length}\n${text}\n`;
	await runGit(repository, ["fast-import", "--quiet"], { input: stream });
	const second = await ServerProcess.start({}, path);
	assert.is(await second.stop(), 0);
	const [, count, command = ""] =
		/^ {8}(\d+) layers of this checkout are not there\. To bring in layers\/, end this and run: DATA_DIR=\S+ npx fragment-publisher (.*)$/m.exec(
			second.output,
		) ?? [];
	assert.is(command, "register layers");
	assert.match(second.output, "Serving 1 layer at ");
	assert.not.match(second.output, "Register a first layer", "there is one");

	const brought = await runScript("register", [join(path, "layers")], { DATA_DIR });
	assert.is(brought.code, 0, brought.stderr);
	assert.match(brought.stdout, `${count} registered, 0 stored already, in the branch main of ${repository}`);
	const third = await ServerProcess.start({}, path);
	assert.is(await third.stop(), 0);
	assert.match(third.output, `Serving ${Number(count) + 1} layers at `);
	assert.not.match(third.output, "not there");
});

test.run();
