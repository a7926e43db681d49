import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { parseSenders } from "../../api/senders.ts";
import { followSenders } from "../../service/senders-file.ts";
import { runScript } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { logTo } from "../store/git-store.ts";

test("changes of the senders file apply without a restart, and are logged without a secret", async () => {
	await using folder = await temporaryFolder();
	const path = join(folder.path, "senders.json");
	const first = '{"a":"secret of a","b":"secret of b"}';
	await writeFile(path, first);
	const senders = new Map(parseSenders(first, path));
	const lines: Record<string, unknown>[] = [];
	const { state, end } = followSenders(path, senders, logTo([], lines));
	const env = { DATA_DIR: folder.path };

	await runScript("sender", ["add", "c", "--all-layers"], env);
	await eventually(() => senders.has("c"));
	await runScript("sender", ["rotate", "a", "--keep", "1d"], env);
	await eventually(() => senders.get("a")?.previous?.secret === "secret of a");
	await runScript("sender", ["remove", "b"], env);
	await eventually(() => !senders.has("b"));
	assert.equal(lines, [
		{ senders: 3, added: ["c"], removed: [], changed: [] },
		{ senders: 3, added: [], removed: [], changed: ["a"] },
		{ senders: 2, added: [], removed: ["b"], changed: [] },
	]);

	assert.is(state(), null);
	await writeFile(path, '{"a":"sec');
	await eventually(() => lines.length === 4);
	assert.match(
		String(lines[3]?.warning),
		/senders\.json: the document must be JSON.*; the senders stay as they were/,
	);
	assert.is(state(), "the senders file is not in order; the senders stay as they were");
	await rename(path, `${path}.away`);
	await eventually(() => lines.length === 5);
	assert.is(state(), "the senders file cannot be read: ENOENT; the senders stay as they were");
	assert.equal([...senders.keys()].sort(), ["a", "c"]);
	await writeFile(path, '{"d":"secret of d"}');
	await eventually(() => senders.has("d") && senders.size === 1);
	assert.is(state(), null);
	assert.not.match(JSON.stringify(lines), "secret of");
	end();
	await rm(path);
});

test.run();
