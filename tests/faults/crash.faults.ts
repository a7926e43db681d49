import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { Clone } from "../helpers/clone.ts";
import { wms } from "../helpers/local.ts";
import { ServerProcess } from "../helpers/process.ts";
import { test } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { temporaryFolder } from "../helpers/world.ts";
import { killAtWork } from "./crash.ts";

test("kill -9 with 32 publishers at work, eight times: every answer holds", () => killAtWork(8));

const count = 1_100;

test("kill -9 while a push of thousands is taken in: the next start serves all of it, from files too", async () => {
	const { path: folder, remove } = await temporaryFolder();
	const env = { DATA_DIR: folder, SENDERS: '{"crash":"secret"}' };
	const files = join(folder, "dist/v0.9/doc/en");
	const present = async () => (await readdir(files).catch(() => [])).length;
	let server = await ServerProcess.start(env);
	const clone = await Clone.of(join(folder, "repository.git"));
	let before = Number(/^Serving (\d+) layers/m.exec(server.output)?.[1]);
	await eventually(async () => (await present()) === before);
	/** The moments of the kill: as soon as the push is there, and between the first and the last of its files. */
	const moments = [async () => undefined, () => eventually(async () => (await present()) > before)];
	for (const [round, moment] of moments.entries()) {
		const keys = Array.from({ length: count }, (_, index) => `k${round}-${index}`);
		const text = (key: string) => wms(`layer-${key}`);
		await clone.commit(Object.fromEntries(keys.map((key) => [`layers/k${round}/${key}.json`, text(key)])));
		assert.ok(await clone.push());
		await moment();
		await server.kill(true);
		server = await ServerProcess.start(env);
		for (const key of [keys[0], keys[777], keys[count - 1]]) {
			const answer = await fetch(`${server.url}/v0.9/doc/en/${key}`);
			assert.match(await answer.text(), `"layerName":"layer-${key}"`);
		}
		before += count;
		await eventually(async () => (await present()) === before);
		await eventually(async () => (await fetch(`${server.url}/readyz`)).status === 200);
		for (const key of keys)
			assert.match(await readFile(join(files, key), "utf8"), `"layerName":"layer-${key}"`);
		assert.not.ok((await readdir(folder)).some((name) => name.endsWith(".tmp")));
	}
	await server.stop();
	await clone.remove();
	await remove();
});

test.run();
