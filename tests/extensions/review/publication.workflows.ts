import { execFileSync } from "node:child_process";
import { existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { type Files, freshSuite, Repository, wellsService } from "../../helpers/world.ts";
import { missingRclone, startS3 } from "../hosting/s3-server.ts";
import { featureFile, nowhere, ownersFile, wmsFile } from "./repository.ts";
import type { Run } from "./runner/play.ts";
import { World } from "./runner/world.ts";

let world: World;

const test = freshSuite("a publication, as GitHub runs it", async (use) => {
	const services = use(await wellsService());
	world = await World.open({
		"SECURITY.md": "how to report\n",
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`${services.origin}/MapServer/1`),
		"layers/sp/spare.json": wmsFile("spare", nowhere),
	});
	use(() => world.close());
});

const resultsOf = ({ jobs }: Run) =>
	Object.fromEntries(Object.entries(jobs).map(([id, { result }]) => [id, result]));

const described = () => world.file("layers/we/wells.service.json");

test("after a lost race descriptions are pushed to the branch, not to a tag of its name", async () => {
	const main = world.git("rev-parse", "refs/heads/main");
	/** A commit on top of one, for a branch of that name. */
	const child = (name: string, text: string) => {
		world.git("branch", name, "refs/heads/main");
		world.push({ "SECURITY.md": text }, name);
		return world.git("rev-parse", `refs/heads/${name}`);
	};
	const newer = child("newer", "a push that came first");
	const evil = child("evil", "what no one has looked at");
	world.git("update-ref", "refs/tags/main", evil);
	world.meanwhile(`git update-ref refs/heads/main ${newer} ${main}`);
	await world.settle();
	world.pushed("main");
	await world.settle();
	const [first, second] = world.runs.filter(
		({ workflow, start }) => workflow.name === "publish" && start.ref === "refs/heads/main",
	);
	assert.is(first?.jobs.describe?.result, "success", first?.jobs.describe?.log);
	assert.match(described() ?? "", '"name": "Wells"');
	assert.is(world.file("SECURITY.md"), "a push that came first");
	assert.is(
		world.git("log", "-1", "--format=%s, %an", "refs/heads/main"),
		"describe layers, fragment-publisher",
	);
	assert.is(second, undefined, "a push by the App is another event");
	world.pushed("main");
	await world.settle();
	assert.equal(world.last("publish").jobs.harvest?.outputs, { found: "" }, "nothing is new");

	// Started again, it has its old commit: it is neither published nor described.
	world.again(first as Run);
	await world.settle();
	assert.equal(resultsOf(world.last("publish")), {
		build: "skipped",
		publish: "skipped",
		harvest: "skipped",
		judge: "skipped",
		describe: "skipped",
		tell: "skipped",
	});
});

const testBucket = missingRclone ? test.skip : test;

testBucket(
	"a bucket is filled by a job that has its key and no package of the build, and reads no link",
	async () => {
		await using peer = await startS3();
		const { AWS_ACCESS_KEY_ID = "", AWS_SECRET_ACCESS_KEY = "", ...names } = peer.env;
		world.host.secrets.production = {
			OBJECTS_ACCESS_KEY_ID: AWS_ACCESS_KEY_ID,
			OBJECTS_SECRET_ACCESS_KEY: AWS_SECRET_ACCESS_KEY,
		};
		const settings = Object.entries({ HOSTING: "objects", SITE: "off", ...names });
		const text = settings.map(([name, value]) => `${name}=${value}\n`).join("");
		world.host.afterJob = (id, { artifacts }) => {
			if (id !== "build") return;
			const folder = artifacts.get("build") as string;
			execFileSync("tar", ["-xf", "build.tar"], { cwd: folder });
			rmSync(join(folder, "dist/v0.9/doc/en/wells"));
			symlinkSync("/proc/self/environ", join(folder, "dist/v0.9/doc/en/wells"));
			execFileSync("tar", ["-cf", "build.tar", "dist"], { cwd: folder });
		};
		world.push({ "published.env": text });
		await world.settle();
		const { build, publish } = world.last("publish").jobs;
		assert.is(build?.result, "success", build?.log);
		assert.match(
			publish?.log ?? "",
			/^l.* dist\/v0\.9\/doc\/en\/wells -> \/proc\/self\/environ\nthe build has more/m,
		);
		assert.equal(peer.writes, []);

		world.host.afterJob = () => undefined;
		world.push({ "SECURITY.md": "how to report, again\n" });
		await world.settle();
		const { jobs } = world.last("publish");
		assert.is(jobs.publish?.result, "success", jobs.publish?.log);
		assert.is(jobs.harvest?.result, "success", jobs.harvest?.log);
		const fragment = peer.objects.get("v0.9/doc/en/wells");
		assert.match(fragment?.headers.get("cache-control") ?? "", /^public, max-age=60,/);
		assert.not.ok(existsSync(join(jobs.publish?.workspace ?? "", "dist")), "nothing is built beside the key");
	},
);

const description = "layers/we/wells.service.json";
const text = (path: string) => `${world.file(path)}\n`;

/** What a job may hand over that no harvest has written, and what is said of it. */
const evil: [what: string, files: () => Files, error: string | RegExp][] = [
	...["SECURITY.md", "layers/we/wells.json"].map((path): (typeof evil)[number] => [
		`${path}, renamed`,
		() => ({ [description]: text(path), [path]: null }),
		`${path}: D 000000 is no change of descriptions`,
	]),
	[
		"a link",
		() => ({ [description]: { link: "/proc/self/environ" } }),
		`${description}: A 120000 is no change`,
	],
	["what the schema refuses", () => ({ [description]: "{}\n" }), /layers\/we\/wells\.service\.json:\d+: /],
	[
		"no layer's description",
		() => ({ "layers/no/none.service.json": "{}\n" }),
		"none.service.json: A 100644 is no",
	],
	["the owners", () => ({ "layers/owners.json": "{}\n" }), "descriptions: changes no layer"],
];

test("of a patch that no harvest has written nothing is pushed", async () => {
	const main = world.git("rev-parse", "refs/heads/main");
	for (const [what, files, error] of evil) {
		using repository = new Repository(
			Object.fromEntries(
				["SECURITY.md", "layers/we/wells.json", "layers/owners.json"].map((path) => [path, text(path)]),
			),
		);
		repository.write(files());
		repository.git("add", "-A");
		const patch = repository.git("diff", "--cached", "--binary", "-M50%");
		assert.is(/^rename from/m.test(patch), what.endsWith("renamed"), what);
		world.host.afterJob = (id, { artifacts }) => {
			const folder = artifacts.get("found");
			if (id === "harvest" && folder) writeFileSync(join(folder, "descriptions/layers.patch"), patch);
		};
		world.pushed("main");
		await world.settle();
		const { judge, describe } = world.last("publish").jobs;
		assert.is(judge?.result, "failure", what);
		assert.match(`${judge?.log}${describe?.log}`, error, what);
		assert.equal([world.git("rev-parse", "refs/heads/main"), described()], [main, null], what);
	}
});

test("a wrong layer is named in the issue, and all others are published; no build has no valid layer", async () => {
	world.push({ "layers/xx/broken.json": "{}", "layers/sp/spare.json": "{" });
	await world.settle();
	const { jobs, artifacts } = world.last("publish");
	assert.equal([jobs.build?.result, jobs.tell?.result], ["success", "failure"]);
	assert.match(jobs.build?.log ?? "", "layers/xx/broken.json: must be at layers/br/broken.json");
	const built = execFileSync("tar", ["-tf", join(artifacts.get("build") ?? "", "build.tar")], {
		encoding: "utf8",
	});
	assert.equal(built.match(/(?<=v0\.9\/doc\/fr\/).+/g)?.sort(), ["spare", "wells"], "in its last good form");
	const [issue] = world.peer.issues;
	assert.is(issue?.title, "The workflow publish fails");
	assert.match(issue?.body ?? "", "layers/sp/spare.json: the document must be JSON");

	world.push({ "layers/xx/broken.json": null, "layers/we/wells.json": null, "layers/sp/spare.json": null });
	world.push({ "layers/sp/spare.json": "{" });
	await world.settle();
	const last = world.last("publish");
	assert.equal([last.jobs.build?.result, last.artifacts.has("build")], ["failure", false]);
	assert.is(last.jobs.publish?.result, "skipped");
});

test.run();
