import { spawnSync } from "node:child_process";
import * as assert from "uvu/assert";
import { freshSuite } from "../../helpers/world.ts";
import type { PeerCheck } from "./approvals/review-peer.ts";
import { nowhere, ownersFile, wmsFile } from "./repository.ts";
import { World } from "./runner/world.ts";

let world: World;

const test = freshSuite("a pull request, as GitHub runs it", async (use) => {
	world = use(
		await World.open({
			"layers/owners.json": ownersFile,
			"layers/aa/aaa.json": wmsFile("a", nowhere),
			"layers/bb/bbb.json": wmsFile("b", nowhere),
		}),
	);
	world.peer.teams.set("maps/reviewers", ["ann"]).set("maps/operators", ["olga"]);
});

/** A registration with another title only: its service is not asked. */
const retitled = (layer: string) => wmsFile(layer, nowhere, { service_name: "Another title" });

const tested = "the project is tested\n";

const resultsOf = (name: string) =>
	Object.values(world.last(name).jobs).map(({ name, result }) => `${name} ${result}`);

test("a first pull request from a fork, from zero to merged", async () => {
	const pull = world.propose("carl", "carl:change", { "layers/aa/aaa.json": retitled("a") });
	await world.settle();
	assert.equal(world.obstacles(pull), ["owners is failure"]);
	assert.match(world.peer.comments[0]?.body ?? "", "### The layers of this change are in order");
	assert.not.match(world.last("check").jobs.test?.log ?? "", tested, "layers are no code");
	// Another title starts no job with a token, and sets no required check again.
	const required = () => world.peer.checks.filter(({ name }) => ["check", "layers", "owners"].includes(name));
	const before = required().length;
	world.rename(pull);
	await world.settle();
	assert.equal([world.last("layers").conclusion, required().length], ["skipped", before]);
	world.approve(pull, "ann");
	await world.settle();
	assert.equal(world.obstacles(pull), []);
	world.merge(pull);
	assert.match(world.file("layers/aa/aaa.json") ?? "", "Another title");
	const { requests } = world.peer;
	console.log(`a first pull request, until it is merged: ${requests.length} requests to GitHub`);
	assert.ok(
		requests.length <= 60,
		`${requests.length} requests: 5,000 an hour are allowed\n${requests.join("\n")}`,
	);
	assert.equal(resultsOf("layers"), ["teams success", "plan success", "send success"]);
});

test("the hourly run reviews those without a result of the check layers, and each has its own comment", async () => {
	const changes = {
		aaa: { "layers/aa/aaa.json": retitled("a") },
		bbb: { "layers/bb/bbb.json": retitled("b"), "layers.md": "how to write layers\n" },
	};
	for (const [key, files] of Object.entries(changes)) world.propose("carl", `carl:${key}`, files);
	await world.settle();
	const checks = world.runs.filter(({ workflow }) => workflow.name === "check");
	const logs = checks.map(({ jobs }) => jobs.test?.log).sort();
	assert.equal(logs, ["", tested], "a file whose name begins with layers is code");
	const reviews = () => world.peer.checks.filter(({ name }) => name === "layers");
	const [lost, unable] = reviews();
	world.peer.checks.splice(world.peer.checks.indexOf(lost as PeerCheck), 1);
	Object.assign(unable ?? {}, { conclusion: "cancelled" });
	const hourly = async () => {
		world.begin("layers");
		await world.settle();
		return world.last("layers").jobs.plan?.log.match(/^1 layer changed,/gm)?.length;
	};
	assert.is(await hourly(), 2);
	assert.equal([...world.last("layers").artifacts.keys()].sort(), ["plan", "teams"]);
	for (const [index, key] of Object.keys(changes).entries()) {
		const texts = world.peer.comments.filter(({ number }) => number === index + 1).map(({ body }) => body);
		const [review = "", ...others] = texts.filter((text) => text.includes("publisher: review -->"));
		assert.match(review, `<code>${key}</code> changed`);
		assert.equal(others, [], "one comment, edited");
	}
	assert.equal(
		reviews().map(({ conclusion }) => conclusion),
		["cancelled", "success", "success"],
	);
	assert.is(await hourly(), undefined, "nothing is missing");
});

test("code that a pull request brings is read, and is in no checkout of a job that reviews it", async () => {
	const evil = "mallory was here";
	const files = Object.fromEntries(
		["package.json", ".npmrc", ".gitattributes", ".github/read-teams.sh", "extensions/review/index.ts"].map(
			(path) => [path, `${evil}\n`],
		),
	);
	const workflow = { ".github/workflows/layers.yml": `on: { push: {} }\njobs: {}\n# ${evil}` };
	const pull = world.propose("mallory", "mallory:change", { ...files, ...workflow });
	await world.settle();
	assert.is(world.last("check").jobs.test?.log, tested);
	assert.equal(world.obstacles(pull).slice(-1), ["owners is failure"]);
	assert.match(world.peer.comments[0]?.body ?? "", "- <code>&#46;gitattributes");
	const workspaces = Object.values(world.last("layers").jobs).map(({ workspace }) => workspace);
	assert.is(workspaces.length, 3);
	for (const cwd of workspaces)
		assert.is(spawnSync("grep", ["-rlF", evil, ".", "--exclude-dir=.git"], { cwd }).status, 1, cwd);
});

test.run();
