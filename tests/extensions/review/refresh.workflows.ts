import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { weekOf } from "../../../registry/health.ts";
import { exits, runScript } from "../../helpers/process.ts";
import {
	type Files,
	Repository,
	sharedSuite,
	temporaryFolder,
	wellsService,
	writeFiles,
} from "../../helpers/world.ts";
import { Peer } from "../harvest/peer.ts";
import { oddService, serveOdd } from "../repair/world.ts";
import { featureFile, ownersFile } from "./repository.ts";
import type { Pull } from "./runner/pull.ts";
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
	const { pulls, ...jobs } = world.last("refresh").jobs;
	assert.is(pulls?.result, "skipped", "the search for repairs is off");
	for (const job of Object.values(jobs)) assert.is(job.result, "success", job.log);
	return world.called;
}

const weeksAgo = (weeks: number) => weekOf(new Date(Date.now() - weeks * 7 * 86_400_000));

const cause = { cause: "answers with status 403", code: "status", values: ["403"] };

const create =
	"pr create --head refresh --base main --title Refresh service descriptions --body-file found/text.md";

test("a refresh is one commit on the branch refresh and one pull request, which needs no approval", async () => {
	const main = world.git("rev-parse", "main");
	assert.equal(await refresh(), [create]);
	const text = world.texts.get(1) ?? "";
	assert.match(text, "2 layers checked: 1 service descriptions changed, 1 layer with findings.");
	assert.match(text, /<code>wells<\/code> \| changed \| well \| well \|/);
	assert.match(text, /\| <code>energy<\/code> \| {2}\| down: .* \| 1 \|/);
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
	assert.equal(await refresh(), [
		"pr edit refresh --title Refresh service descriptions --body-file found/text.md",
	]);
	const text = world.texts.get(1) ?? "";
	assert.match(text, "### Services that have been down for 3 weeks and more");
	assert.match(text, /- <code>energy<\/code>, of <code>&#64;maps&#47;energy<\/code>: 3 weeks in a row/);
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

const [moved, other] = ["layers/mo/moved.json", "layers/ot/other.json"];
/** The files of the branch main, and what a layer of them becomes. */
let main: Record<string, string>;
let after: string;

const testRepairs = sharedSuite("repairs that a search hands over, as GitHub runs it", async (use) => {
	const { origin } = use(await wellsService());
	const layerAt = (id: number) => featureFile(`${origin}/MapServer/${id}`);
	main = {
		"README.md": "read me\n",
		"layers/owners.json": ownersFile,
		[moved]: layerAt(1),
		[other]: layerAt(2),
	};
	after = layerAt(3);
	world = await World.open(main);
	use(() => world.close());
	delete world.variables.REPAIR;
});

/** What a search hands over as the repair of a layer: its patch, with names of files that were renamed. */
function repairOf(key: string, change: Files): Files {
	using repository = new Repository(main);
	repository.write(change);
	repository.git("add", "-A");
	const trailers = `Repairs: ${key}\nEvidence: 0123456789abcdef`;
	return {
		[`repair/${key}/repair.patch`]: repository.git("diff", "--cached", "--binary", "-M100%"),
		[`repair/${key}/message.txt`]: `repair ${key}\n\n${trailers}\nSender: jstest\n`,
		[`repair/${key}/text.md`]: "The table\n",
	};
}

/** Plays a refresh whose search hands over files. @returns what `gh` was called with for repairs */
async function refreshWith(...files: Files[]): Promise<string[]> {
	world.host.afterJob = (id, { artifacts }) => {
		if (id !== "harvest") return;
		writeFiles(artifacts.get("found") as string, Object.assign({}, ...files));
	};
	world.called.length = 0;
	world.begin("refresh");
	await world.settle();
	const { propose } = world.last("refresh").jobs;
	assert.is(propose?.result, "success", propose?.log);
	return world.called.filter((call) => call.includes("repair/"));
}

const branches = () => world.git("for-each-ref", "refs/heads/repair");
const textOf = (key: string) => `--title repair ${key} --body-file found/repair/${key}/text.md`;
const created = (key: string) => `pr create --head repair/${key} --base main ${textOf(key)}`;
testRepairs(
	"a repair that renames a file, or that the review refuses, is neither pushed nor proposed",
	async () => {
		const renamed = ["README.md", "layers/owners.json", other].map((path): Files => {
			return { [path]: null, "layers/mo/renamed.json": main[path] as string };
		});
		for (const change of [...renamed, { [moved]: '{"version":"1.1.0"}\n' }]) {
			assert.equal(await refreshWith(repairOf("moved", change)), [], JSON.stringify(change));
			assert.is(branches(), "");
		}
	},
);

testRepairs(
	"a repair is a commit on its own branch and a pull request; only layers and two trailers come with it",
	async () => {
		const tip = world.git("rev-parse", "refs/heads/main");
		const change = { [moved]: after, "layers/health.json": "{}", "README.md": "mine\n" };
		assert.equal(await refreshWith(repairOf("moved", change)), [created("moved")]);
		assert.is(world.git("rev-parse", "refs/heads/main"), tip, "main is not written");
		assert.is(world.git("rev-parse", "repair/moved~1"), tip);
		assert.is(world.git("diff", "--name-only", "main", "repair/moved"), moved);
		assert.match(world.file(moved, "repair/moved") ?? "", "MapServer/3");
		const message = "repair moved\n\nRepairs: moved\nEvidence: 0123456789abcdef";
		assert.is(world.git("log", "-1", "--format=%B", "repair/moved"), message);
	},
);

testRepairs(
	"an outdated repair is closed under another title, so that it does not count as declined",
	async () => {
		const withdrawn = { "withdrawn.txt": "repair/moved\nmain\nrepair/a b; rm -rf x\n" };
		assert.equal(await refreshWith(withdrawn), [
			"pr edit repair/moved --title withdrawn: repair/moved",
			"pr close repair/moved --delete-branch --comment The layer is well again. · La couche fonctionne de nouveau.",
		]);
		assert.equal(await refreshWith(withdrawn), [], "it was closed meanwhile");
	},
);

testRepairs("of what was drawn only pictures and their list are stored, in one commit", async () => {
	const pictures = { "mo/moved.webp": "RIFF", "proofs.json": "{}" };
	const all = { ...pictures, "mo/large.webp": "x".repeat(20_000), "mo/page.html": "<script>" };
	await refreshWith(
		Object.fromEntries(Object.entries(all).map(([name, text]) => [`proposed/${name}`, text])),
	);
	const listed = world.git("ls-tree", "-r", "--name-only", "pictures").split("\n");
	assert.equal(
		listed,
		Object.keys(pictures).map((name) => `proposed/${name}`),
	);
	assert.is(world.git("rev-list", "--count", "pictures"), "1");
	assert.is(world.git("show", "-s", "--format=%an", "pictures"), "fragment-publisher");
});

testRepairs.run();

const testMerged = sharedSuite("a repair, as GitHub runs it", async (use) => {
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
	world.peer.teams.set("maps/reviewers", ["ann"]).set("maps/operators", ["olga"]);
	use(() => world.close());
	delete world.variables.REPAIR;
	serveOdd(services, 5);
});

/** Plays the refresh of a week, and what follows. @returns the pull requests of repairs that are open after it */
async function openRepairs() {
	world.begin("refresh");
	await world.settle();
	const { pulls, propose } = world.last("refresh").jobs;
	for (const job of [pulls, propose]) assert.is(job?.result, "success", job?.log);
	return world.pulls.filter(
		({ merged, isClosed, from }) => from === "maps:repair/moved" && !merged && !isClosed,
	);
}

const registration = () => world.file("layers/mo/moved.json") ?? "";

testMerged(
	"a pull request that a person closes is declined, and the same is not proposed again",
	async () => {
		const [pull, ...others] = await openRepairs();
		assert.equal([pull?.title, others], ["repair moved: the same layer at another place", []]);
		assert.equal(world.obstacles(pull as Pull), ["owners is failure"]);
		assert.match(registration(), `${oddService}/3`);
		Object.assign(pull ?? {}, { isClosed: true });
		assert.equal(await openRepairs(), []);
	},
);

testMerged("once an owner has approved it, the workflow merges it by squash, with its trailers", async () => {
	const pull = world.pulls.find(({ from }) => from === "maps:repair/moved") as Pull;
	pull.isClosed = false;
	world.review(pull, "ann", "APPROVED");
	await world.settle();
	assert.is(pull.merged, true, world.last("layers").jobs.approvals?.log);
	assert.match(registration(), `${oddService}/5`);
	const [merge = "", parents] = world.git("log", "-1", "--format=%B%x00%P", "refs/heads/main").split("\0");
	assert.match(
		merge.trim(),
		/^repair moved: the same layer at another place \(#\d+\)\n\nRepairs: moved\nEvidence: [0-9a-f]{16}$/,
	);
	assert.is(parents?.split(" ").length, 1, "a linear history");
});

testMerged.run();
