import * as assert from "uvu/assert";
import { weekOf } from "../../../registry/health.ts";
import { sharedSuite, wellsService } from "../../helpers/world.ts";
import { featureFile, ownersFile } from "./repository.ts";
import { World } from "./runner/world.ts";

let world: World;

const test = sharedSuite("a refresh, as GitHub runs it", async (use) => {
	const services = use(await wellsService((path) => (path.startsWith("/busy/") ? 403 : 200)));
	world = await World.open({
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`${services.origin}/MapServer/1`),
		"layers/en/energy.json": featureFile(`${services.origin}/busy/MapServer/1`),
	});
	use(() => world.close());
});

/** Plays the workflow, and those that follow; what `gh` was called with. */
async function refresh(): Promise<string[]> {
	world.called.length = 0;
	world.begin("refresh");
	await world.settle();
	const { jobs } = world.last("refresh");
	assert.is(jobs.harvest?.outputs.fetched, "skipped", "the search for repairs is off");
	for (const job of Object.values(jobs)) assert.is(job.result, "success", job.log);
	return world.called;
}

const weeksAgo = (weeks: number) => weekOf(new Date(Date.now() - weeks * 7 * 86_400_000));

const cause = { cause: "answers with status 403", code: "status", values: ["403"] };

const create =
	"pr create --head refresh --base main --title Refresh service descriptions --body-file found/refresh/text.md";

test("a refresh is one commit on the branch refresh and one pull request, which needs no approval", async () => {
	const main = world.git("rev-parse", "main");
	assert.equal(await refresh(), [create]);
	const text = world.texts.get(1) ?? "";
	assert.match(text, "2 layers checked, 1 layer with findings.");
	assert.match(
		text,
		/### <code>&#64;maps&#47;energy<\/code>\n\n[^#]*\| <code>energy<\/code> \| down: .* \| 1 \|/,
	);
	assert.is(world.git("rev-parse", "main"), main);
	assert.is(world.git("rev-parse", "refresh~1"), main);
	assert.match(world.file("layers/we/wells.service.json", "refresh") ?? "", '"name": "Wells"');
	const health = { sick: { energy: { state: "down", since: weeksAgo(0), ...cause } } };
	assert.equal(JSON.parse(world.file("layers/health.json", "refresh") ?? ""), health);
	assert.equal(world.obstacles(world.pulls[0] as World["pulls"][number]), []);
});

test("the next refresh replaces the open one, and continues the counts of its branch", async () => {
	const before = {
		sick: { energy: { state: "down", since: weeksAgo(2) }, wells: { state: "down", since: weeksAgo(6) } },
	};
	world.push({ "layers/health.json": JSON.stringify(before) }, "refresh");
	assert.equal(await refresh(), ["pr edit refresh --body-file found/refresh/text.md"]);
	const text = world.texts.get(1) ?? "";
	assert.match(text, /\| <code>energy<\/code> \| down: .* \| 3 \|/);
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

test.run();
