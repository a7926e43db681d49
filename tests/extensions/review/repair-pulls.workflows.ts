import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { exits, runScript } from "../../helpers/process.ts";
import { sharedSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { Peer } from "../harvest/peer.ts";
import { oddService, serveOdd } from "../repair/world.ts";
import { featureFile, ownersFile } from "./repository.ts";
import type { Pull } from "./runner/pull.ts";
import { World } from "./runner/world.ts";

let world: World;

const test = sharedSuite("a repair, as GitHub runs it", async (use) => {
	const services = await Peer.open();
	use(() => services.close());
	serveOdd(services, 3);
	const folder = use(await temporaryFolder()).path;
	const layer = featureFile(`${services.origin}${oddService}/3`);
	writeFiles(folder, { "mo/moved.json": layer });
	await exits(runScript("harvest", ["--layers", folder], { HARVEST_ALLOW_PRIVATE: "on" }), 0);
	world = await World.open({
		"layers/owners.json": ownersFile,
		"layers/mo/moved.json": layer,
		"layers/mo/moved.service.json": readFileSync(join(folder, "mo/moved.service.json"), "utf8"),
		"layers/health.json": '{"sick":{"moved":{"state":"wrong","since":"2026-W09"}}}\n',
	});
	use(() => world.close());
	delete world.variables.REPAIR;
	serveOdd(services, 5);
});

/** Plays the refresh of a week, and what follows. @returns the pull requests of repairs that are open after it */
async function openRepairs() {
	world.begin("refresh");
	await world.settle();
	const { harvest, propose } = world.last("refresh").jobs;
	assert.is(harvest?.outputs.fetched, "success", harvest?.log);
	assert.is(propose?.result, "success", propose?.log);
	return world.pulls.filter(
		({ merged, isClosed, from }) => from === "maps:repair/moved" && !merged && !isClosed,
	);
}

const registration = () => world.file("layers/mo/moved.json") ?? "";

test("a pull request that a person closes is declined, and the same is not proposed again", async () => {
	const [pull, ...others] = await openRepairs();
	assert.equal([pull?.title, others], ["repair moved: the same layer at another place", []]);
	assert.equal(world.obstacles(pull as Pull), ["owners is failure"]);
	assert.match(registration(), `${oddService}/3`);
	Object.assign(pull ?? {}, { isClosed: true });
	assert.equal(await openRepairs(), []);
});

test.run();
