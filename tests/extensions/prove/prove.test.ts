import { existsSync } from "node:fs";
import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Browser } from "playwright-core";
import * as assert from "uvu/assert";
import { readLayers } from "../../../extensions/harvest/harvester/layers.ts";
import type { DrawResult } from "../../../extensions/prove/draw.ts";
import { type ProveRun, runProofs } from "../../../extensions/prove/proofs.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { processIo } from "../../../scripts/main.ts";
import { causeOf } from "../../../site/data/health.ts";
import { readProofs } from "../../../site/data/proofs.ts";
import { sharedSuite, temporaryFolder } from "../../helpers/world.ts";

interface Scene {
	layers: CheckedLayer[];
	temporary: string;
	/** For the pictures of one test. */
	folder: string;
}

const test = sharedSuite<Scene>("proofs of layers, without a browser", async (use) => {
	const { path } = use(await temporaryFolder());
	const layers = await readLayers({ folder: "tests/fixtures/layers" }, processIo());
	return { layers, temporary: path, folder: "" };
});
test.before.each(async (scene) => {
	scene.folder = await mkdtemp(join(scene.temporary, "pictures-"));
});

const drawn: DrawResult = { picture: new Uint8Array(600) };

async function openNothing() {
	let isOpen = true;
	const close = async () => {
		isOpen = false;
	};
	return { isConnected: () => isOpen, close } as Partial<Browser> as Browser;
}

function proveWithout(
	{ layers, folder }: Scene,
	smallkeys: string[],
	draw: ProveRun["draw"],
	more: Partial<ProveRun> = {},
) {
	return runProofs({
		site: "http://site.invalid",
		fetch,
		folder,
		isAgain: false,
		day: "2026-03-04",
		layers: layers.filter(({ smallkey }) => smallkeys.includes(smallkey)),
		registered: new Set(layers.map(({ smallkey }) => smallkey)),
		signal: new AbortController().signal,
		startBrowser: openNothing,
		draw,
		...more,
	});
}

async function picturesIn({ folder }: Scene) {
	return (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".webp"));
}

test("an interrupted run continues where it ended, and a removed layer is forgotten", async (scene) => {
	const controller = new AbortController();
	const asked: string[] = [];
	const draw: ProveRun["draw"] = async (_, smallkey) => {
		asked.push(smallkey);
		controller.abort();
		return drawn;
	};
	const keys = ["nacei-1", "nacei-2", "nacei-3"];
	const first = await proveWithout(scene, keys, draw, { signal: controller.signal });
	assert.equal([...first.keys()], ["nacei-1"], "one at a time of one host");
	asked.length = 0;
	const second = await proveWithout(scene, keys, draw);
	assert.equal([...second.keys()].sort(), keys);
	assert.equal([...new Set(asked)], ["nacei-2", "nacei-3"]);
	asked.length = 0;
	await proveWithout(scene, ["nacei-1"], draw);
	assert.equal(asked, [], "drawn today");
	await proveWithout(scene, ["nacei-1"], draw, { isAgain: true });
	assert.equal([...new Set(asked)], ["nacei-1"]);
	const failed = await proveWithout(
		scene,
		["nacei-2"],
		async () => ({ ...drawn, cause: causeOf("nothing"), picture: null }),
		{ day: "2026-03-11" },
	);
	const { since, picture } = failed.get("nacei-2") ?? {};
	assert.equal([since, picture], ["2026-03-11", second.get("nacei-2")?.picture], "the last picture stays");
	const rest = await proveWithout(scene, [], draw, { registered: new Set(["nacei-2"]) });
	assert.equal([...rest.keys()], ["nacei-2"]);
	assert.equal(await picturesIn(scene), [second.get("nacei-2")?.picture], "and so are their pictures");
});

test("a killed run has removed no picture that the stored proofs name", async (scene) => {
	const keys = ["nacei-1", "nacei-2"];
	await proveWithout(scene, keys, async () => drawn);
	const kept: boolean[] = [];
	const draw: ProveRun["draw"] = async () => {
		for (const { picture = "" } of (await readProofs(scene.folder)).values())
			kept.push(existsSync(join(scene.folder, picture)));
		return { ...drawn, picture: new Uint8Array(600).fill(1) };
	};
	await proveWithout(scene, keys, draw, { isAgain: true });
	assert.is((await picturesIn(scene)).length, 2, "the earlier ones are removed at the end");
	await proveWithout(scene, ["nacei-1"], draw, { isAgain: true, registered: new Set(["nacei-1"]) });
	assert.equal([...new Set(kept)], [true]);
});

test("a layer that crashes the browser is not drawn, and all others are", async (scene) => {
	const draw: ProveRun["draw"] = async ({ browser }, smallkey) => {
		if (smallkey === "nhn") await browser.close();
		await setImmediate();
		if (!browser.isConnected()) throw new Error("Target page, context or browser has been closed");
		return drawn;
	};
	const proofs = await proveWithout(scene, ["nhn", "drought", "nacei-1", "nacei-2"], draw);
	assert.equal([...proofs.keys()].sort(), ["drought", "nacei-1", "nacei-2", "nhn"]);
	const notDrawn = [...proofs].filter(([, { since }]) => since !== undefined);
	assert.equal(
		notDrawn.map(([smallkey, { since, cause }]) => [smallkey, since, cause?.code]),
		[["nhn", "2026-03-04", "browser-ended"]],
	);
	assert.equal(await readProofs(scene.folder), proofs, "kept");
});

test.run();
