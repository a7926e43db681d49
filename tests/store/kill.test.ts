import { join } from "node:path";
import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { wms } from "../helpers/local.ts";
import { ServerProcess } from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { test } from "../helpers/suite.ts";
import { gate } from "../helpers/wait.ts";
import { gitIn, temporaryFolder } from "../helpers/world.ts";

const secret = "a publisher's secret";

/** @returns the status, once the answer is whole */
async function send(url: string, smallkey: string, layer: string | null): Promise<number> {
	const path = `/register/${smallkey}`;
	const method = layer === null ? "DELETE" : "PUT";
	const request = await signed(path, layer === null ? "" : wms(layer), { sender: "crash", secret, method });
	const answer = await fetch(url + path, request);
	await answer.arrayBuffer();
	return answer.status;
}

async function readLayer(url: string, smallkey: string): Promise<string | null> {
	const answer = await fetch(`${url}/v0.9/doc/en/${smallkey}`);
	if (answer.status === 404) return null;
	const fragment = (await answer.json()) as { layers: { wms: { layerName: string }[] } };
	return fragment.layers.wms[0]?.layerName ?? null;
}

test("kill -9 with eight publishers at work, and a start: every answer holds", async () => {
	await using folder = await temporaryFolder();
	const env = { DATA_DIR: folder.path, SENDERS: JSON.stringify({ crash: secret }) };
	const git = gitIn(join(folder.path, "repository.git"));
	const server = await ServerProcess.start(env);
	const [enough, reach] = gate();
	let answers = 0;
	/** Smallkey → the last layer that was acknowledged, and the one without an answer, which may be stored or not. */
	const states = new Map<string, (string | null)[]>();
	const working = Array.from({ length: 8 }, async (_, index) => {
		const smallkey = `k${index}`;
		for (let turn = 0, acknowledged: string | null = null; ; turn += 1) {
			const layer = turn % 5 === 4 ? null : `layer-${index}-${turn}`;
			states.set(smallkey, [acknowledged, layer]);
			const status = await send(server.url, smallkey, layer).catch(() => null);
			if (status === null) return;
			assert.is(status, layer === null ? 204 : 201);
			acknowledged = layer;
			answers += 1;
			if (answers === 60) reach();
		}
	});
	await Promise.race([enough, Promise.all(working)]);
	await server.kill(true);
	await Promise.all(working);
	assert.ok(answers >= 60);
	assert.is(await git("fsck", "--strict", "--no-dangling"), "");
	await using restarted = await ServerProcess.start(env);
	const files = (await git("ls-tree", "-r", "--name-only", "main")).split("\n");
	for (const [smallkey, possible] of states) {
		const layer = await readLayer(restarted.url, smallkey);
		assert.ok(possible.includes(layer), `${smallkey}: ${layer}, not ${possible}`);
		assert.is(files.includes(layerPath(smallkey)), layer !== null, smallkey);
	}
});

test.run();
