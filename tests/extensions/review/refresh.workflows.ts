import * as assert from "uvu/assert";
import { weekOf } from "../../../extensions/harvest/health.ts";
import { exits, runScript } from "../../helpers/process.ts";
import {
	type Answering,
	type Files,
	filesIn,
	sharedSuite,
	temporaryFolder,
	wellsService,
	writeFiles,
} from "../../helpers/world.ts";
import { Peer } from "../harvest/peer.ts";
import { oddService, serveOdd } from "../repair/world.ts";
import { featureFile, ownersFile, patchOf } from "./repository.ts";
import type { Pull } from "./runner/pull.ts";
import { World } from "./runner/world.ts";

let world: World;
let services: Answering;

const test = sharedSuite("a refresh, as GitHub runs it", async (use) => {
	services = use(await wellsService((path) => (path.startsWith("/busy/") ? 403 : 200)));
	world = use(
		await World.open({
			"layers/owners.json": ownersFile,
			"layers/we/wells.json": featureFile(`${services.origin}/MapServer/1`),
			"layers/en/energy.json": featureFile(`${services.origin}/busy/MapServer/1`),
		}),
	);
});

/** Runs the workflow and those that it starts. @param forged files that an attacker adds to the artifact @returns calls of `gh` */
async function refresh(forged: Files = {}): Promise<string[]> {
	world.called.length = 0;
	world.host.afterJob = (id, { workflow, artifacts }) => {
		if (workflow.name === "refresh" && id === "harvest") writeFiles(artifacts.get("found") as string, forged);
	};
	world.begin("refresh");
	await world.settle();
	const { jobs } = world.last("refresh");
	for (const job of Object.values(jobs)) assert.is(job.result, "success", job.log);
	const isOff = world.variables.REPAIR === "off";
	assert.is(jobs.harvest?.outputs.fetched, isOff ? "skipped" : "success", jobs.harvest?.log);
	return world.called;
}

const weeksAgo = (weeks: number) => weekOf(new Date(Date.now() - weeks * 7 * 86_400_000));

const cause = { cause: "answers with status 403", code: "status", values: ["403"] };

const create = (branch: string, title: string) =>
	`pr create --head ${branch} --base main --title ${title} --body-file found/${branch}/text.md`;

test("a refresh is one commit on the branch refresh and one pull request, which needs no approval", async () => {
	const main = world.git("rev-parse", "main");
	assert.equal(await refresh(), [create("refresh", "Refresh service descriptions")]);
	assert.is(world.texts.get(1), "checked 2 layers: 1 well, 0 wrong, 1 down, 0 empty, 0 blocked\n");
	assert.is(world.git("rev-parse", "main"), main);
	assert.is(world.git("rev-parse", "refresh~1"), main);
	assert.match(world.file("layers/we/wells.service.json", "refresh") ?? "", '"name": "Wells"');
	const health = { sick: { energy: { state: "down", since: weeksAgo(0), ...cause } } };
	assert.equal(JSON.parse(world.file("layers/health.json", "refresh") ?? ""), health);
	assert.equal(world.obstacles(world.pulls[0] as Pull), []);
});

test("the next refresh replaces the open one, and continues the counts of its branch", async () => {
	const before = {
		sick: { energy: { state: "down", since: weeksAgo(2) }, wells: { state: "down", since: weeksAgo(6) } },
	};
	world.push({ "layers/health.json": JSON.stringify(before) }, "refresh");
	assert.equal(await refresh(), ["pr edit refresh --body-file found/refresh/text.md"]);
	assert.is(world.git("rev-parse", "refresh~1"), world.git("rev-parse", "main"));
	const { sick } = JSON.parse(world.file("layers/health.json", "refresh") ?? "");
	assert.equal(sick, { energy: { ...before.sick.energy, ...cause } });
});

test("when there is nothing to merge, an open pull request is closed, and none is opened", async () => {
	const same = world.git("commit-tree", "refresh^{tree}", "-p", "main", "-m", "the same in another way");
	world.git("update-ref", "refs/heads/main", same);
	assert.equal(await refresh(), ["pr close refresh --delete-branch"]);
	assert.equal(await refresh(), []);
});

test("a repair that a person closes is declined, and one that is outdated is not", async () => {
	await using odd = await Peer.open();
	serveOdd(odd, 3);
	await using folder = await temporaryFolder();
	writeFiles(folder.path, { "mo/moved.json": featureFile(`${odd.origin}${oddService}/3`) });
	await exits(runScript("harvest", ["--layers", folder.path], { HARVEST_ALLOW_PRIVATE: "on" }), 0);
	const health = '{"sick":{"moved":{"state":"wrong","since":"2026-W09"}}}\n';
	const moved = Array.from(filesIn(folder.path), ([name, text]) => [`layers/${name}`, text]);
	world.push({ ...Object.fromEntries(moved), "layers/health.json": health });
	serveOdd(odd, 5);
	world.variables.REPAIR = "on";

	// What the review refuses is left out.
	const wrong = patchOf("layers/wr/wrong.json", "{}");
	const refused = { "repair/wrong/repair.patch": wrong, "repair/wrong/message.txt": "repair wrong\n" };
	const repairs = async (forged: Files) => (await refresh(forged)).filter((call) => call.includes("repair"));
	const created = create("repair/moved", "repair moved: the same layer at another place");
	assert.equal(await repairs(refused), [created]);
	const pull = world.pulls.at(-1) as Pull;
	assert.equal(world.obstacles(pull), ["owners is failure"]);
	assert.match(world.file("layers/mo/moved.json") ?? "", `${oddService}/3`);
	assert.is(world.git("rev-parse", "repair/moved~1"), world.git("rev-parse", "main"));

	pull.isClosed = true;
	const withdrawn = { "withdrawn.txt": "repair/moved\nmain\nrepair/a b; rm -rf x\n" };
	assert.equal(await repairs(withdrawn), []);
	pull.isClosed = false;
	assert.equal((await repairs(withdrawn)).slice(-2), [
		"pr edit repair/moved --title withdrawn: repair/moved",
		"pr close repair/moved --delete-branch --comment The layer is well again. · La couche fonctionne de nouveau.",
	]);
	assert.equal(await repairs({}), [created], "it is proposed again");
});

test.run();
