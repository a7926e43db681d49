import { execFileSync } from "node:child_process";
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { freshSuite, wellsService, writeFiles } from "../../helpers/world.ts";
import { missingRclone, startS3 } from "../hosting/s3-server.ts";
import { featureFile, nowhere, ownersFile, patchOf, wmsFile } from "./repository.ts";
import type { Run } from "./runner/play.ts";
import { World } from "./runner/world.ts";

let world: World;

const test = freshSuite("a publication, as GitHub runs it", async (use) => {
	const services = use(await wellsService());
	world = use(
		await World.open({
			"SECURITY.md": "how to report\n",
			"layers/owners.json": ownersFile,
			"layers/we/wells.json": featureFile(`${services.origin}/MapServer/1`),
			"layers/sp/spare.json": wmsFile("spare", nowhere),
		}),
	);
});

/** Plays all that waits. @returns the last publication */
async function publication(): Promise<Run> {
	await world.settle();
	return world.last("publish");
}

test("descriptions are pushed to the branch, not to a tag of its name; after a lost race by the next run", async () => {
	world.git("branch", "evil", "main");
	world.push({ "SECURITY.md": "evil" }, "evil");
	world.git("update-ref", "refs/tags/main", "evil");
	await world.settle();
	world.host.afterJob = (id) => {
		world.host.afterJob = () => undefined;
		assert.is(id, "build");
		world.push({ "SECURITY.md": "newer" });
	};
	world.pushed("main");
	await world.settle();
	const runs = world.runs.filter(({ jobs }) => jobs.describe?.result === "success");
	const [first] = runs as [Run];
	assert.equal(
		runs.map(({ jobs }) => /rejected/.test(jobs.describe?.log ?? "")),
		[true, false],
	);
	assert.match(world.file("layers/we/wells.service.json") ?? "", '"name": "Wells"');
	assert.is(world.file("SECURITY.md"), "newer");
	const log = world.git("log", "-1", "--format=%s, %an", "refs/heads/main");
	assert.is(log, "describe layers, fragment-publisher");
	world.pushed("main");
	const { harvest } = (await publication()).jobs;
	assert.equal(harvest?.outputs, { found: "" }, "nothing is new");

	// Started again, it has its old commit: it is neither published nor described.
	world.again(first);
	const { conclusion } = await publication();
	assert.is(conclusion, "skipped");
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
		const { build, publish } = (await publication()).jobs;
		assert.is(build?.result, "success", build?.log);
		assert.match(
			publish?.log ?? "",
			/^l.* dist\/v0\.9\/doc\/en\/wells -> \/proc\/self\/environ\nthe build has more/m,
		);
		assert.equal(peer.writes, []);

		world.host.afterJob = () => undefined;
		world.push({ "SECURITY.md": "how to report, again\n" });
		const { jobs } = await publication();
		assert.is(jobs.publish?.result, "success", jobs.publish?.log);
		assert.is(jobs.harvest?.result, "success", jobs.harvest?.log);
		const fragment = peer.objects.get("v0.9/doc/en/wells");
		assert.match(fragment?.headers.get("cache-control") ?? "", /^public, max-age=60,/);
		assert.not.ok(existsSync(join(jobs.publish?.workspace ?? "", "dist")), "nothing is built beside the key");
	},
);

test("of descriptions that the review refuses nothing is pushed", async () => {
	const main = world.git("rev-parse", "refs/heads/main");
	world.host.afterJob = (id, { artifacts }) => {
		if (id !== "harvest") return;
		const patch = patchOf("layers/we/wells.service.json", "{}");
		writeFiles(artifacts.get("found") as string, { "descriptions/layers.patch": patch });
	};
	world.pushed("main");
	const { judge, describe } = (await publication()).jobs;
	assert.match(judge?.log ?? "", /layers\/we\/wells\.service\.json:\d+: /);
	assert.equal([judge?.result, describe?.result], ["failure", "skipped"]);
	assert.is(world.git("rev-parse", "refs/heads/main"), main);
});

test("a wrong layer is named in the issue, and all others are published; no build has no valid layer", async () => {
	world.push({ "layers/xx/broken.json": "{}", "layers/sp/spare.json": "{" });
	const { jobs, artifacts } = await publication();
	assert.equal([jobs.build?.result, jobs.tell?.result], ["success", "failure"]);
	assert.match(jobs.build?.log ?? "", "layers/xx/broken.json: must be at layers/br/broken.json");
	const built = execFileSync("tar", ["-tf", join(artifacts.get("build") ?? "", "build.tar")], {
		encoding: "utf8",
	});
	assert.equal(built.match(/(?<=v0\.9\/doc\/fr\/).+/g)?.sort(), ["spare", "wells"], "in its last good form");
	const [issue] = world.peer.issues;
	assert.is(issue?.title, "The workflow publish fails");
	assert.match(issue?.body ?? "", "layers/sp/spare.json: the document: must be JSON");

	world.push({ "layers/xx/broken.json": null, "layers/we/wells.json": null, "layers/sp/spare.json": null });
	world.push({ "layers/sp/spare.json": "{" });
	const last = await publication();
	assert.equal([last.jobs.build?.result, last.artifacts.has("build")], ["failure", false]);
	assert.is(last.jobs.publish?.result, "skipped");
});

test.run();
