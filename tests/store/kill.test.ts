import * as assert from "uvu/assert";
import { layerPath } from "../../registry/smallkey.ts";
import { World } from "../faults/world.ts";
import { wms } from "../helpers/local.ts";
import { test } from "../helpers/suite.ts";
import { gate } from "../helpers/wait.ts";
import { gitIn } from "../helpers/world.ts";

test("kill -9 with eight publishers at work, and a start: every answer holds", async () => {
	await using world = await World.of();
	await world.start();
	const git = gitIn(world.repository);
	const [enough, reach] = gate();
	let answers = 0;
	/** Smallkey → the last layer that was acknowledged, and the one without an answer, which may be stored or not. */
	const states = new Map<string, (string | null)[]>();
	const working = Array.from({ length: 8 }, async (_, index) => {
		const smallkey = `k${index}`;
		for (let turn = 0, acknowledged: string | null = null; ; turn += 1) {
			const layer = turn % 5 === 4 ? null : `layer-${index}-${turn}`;
			states.set(smallkey, [acknowledged, layer]);
			const answer = await world.send(smallkey, layer === null ? "" : wms(layer)).catch(() => null);
			if ((await answer?.arrayBuffer().catch(() => undefined)) === undefined) return;
			assert.is(answer?.status, layer === null ? 204 : 201);
			acknowledged = layer;
			answers += 1;
			if (answers === 60) reach();
		}
	});
	await Promise.race([enough, Promise.all(working)]);
	await world.server.kill(true);
	await Promise.all(working);
	assert.ok(answers >= 60);
	assert.is(await git("fsck", "--strict", "--no-dangling"), "");
	await world.start();
	const files = (await git("ls-tree", "-r", "--name-only", "main")).split("\n");
	for (const [smallkey, possible] of states) {
		const layer = await world.read(smallkey);
		const read = layer === "404" ? null : layer;
		assert.ok(possible.includes(read), `${smallkey}: ${layer}, not ${possible}`);
		assert.is(files.includes(layerPath(smallkey)), read !== null, smallkey);
	}
});

test.run();
