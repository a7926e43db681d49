import { execFileSync } from "node:child_process";
import { existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { freshSuite, Repository, wellsService } from "../../helpers/world.ts";
import { missingS3, startS3 } from "../hosting/s3-server.ts";
import { featureFile, ownersFile } from "./repository.ts";
import type { Run } from "./runner/workflow.ts";
import { World } from "./runner/world.ts";

let world: World;

const test = freshSuite("a publication, as GitHub runs it", async (use) => {
	const services = use(await wellsService());
	world = await World.open({
		"SECURITY.md": "how to report\n",
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`${services.origin}/MapServer/1`),
	});
	use(() => world.close());
});

const resultsOf = ({ jobs }: Run) =>
	Object.fromEntries(Object.entries(jobs).map(([id, { result }]) => [id, result]));

const described = () => world.file("layers/we/wells.service.json");

test("after a lost race descriptions are pushed to the branch, not to a tag of its name", async () => {
	const main = world.git("rev-parse", "refs/heads/main");
	const child = (parent: string, text: string) => {
		const blob = world.git("hash-object", "-w", "--", world.write(text));
		const tree = world
			.git("ls-tree", parent)
			.replace(/^.*\tSECURITY\.md$/m, `100644 blob ${blob}\tSECURITY.md`);
		return world.git("commit-tree", world.makeTree(tree), "-p", parent, "-m", text);
	};
	const newer = child(main, "a push that came first");
	const evil = child(newer, "what no one has looked at");
	world.git("update-ref", "refs/tags/main", evil);
	world.meanwhile(`git update-ref refs/heads/main ${newer} ${main}`);
	world.pushed("main");
	await world.settle();
	const [first, second] = world.runs.filter(({ workflow }) => workflow.name === "publish");
	assert.is(first?.jobs.describe?.result, "success", first?.jobs.describe?.log);
	assert.match(described() ?? "", '"name": "Wells"');
	assert.is(world.file("SECURITY.md"), "a push that came first");
	assert.is(
		world.git("log", "-1", "--format=%s, %an", "refs/heads/main"),
		"describe layers, fragment-publisher",
	);
	assert.is(second, undefined, "a push by the App is another event");

	// Started again, it has its old commit: it is neither published nor described.
	world.again(first as Run);
	await world.settle();
	const { pictures, validate, ...withKey } = resultsOf(world.last("publish"));
	assert.equal([pictures, validate], ["success", "success"]);
	assert.equal(withKey, {
		build: "skipped",
		publish: "skipped",
		verify: "skipped",
		harvest: "skipped",
		judge: "skipped",
		describe: "skipped",
		tell: "skipped",
	});
});

const withS3 = missingS3 === null ? test : test.skip;
if (missingS3 !== null) console.log(`skipped: a bucket, as GitHub's jobs fill it: ${missingS3}`);

withS3(
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
			execFileSync("tar", ["-cf", "build.tar", "dist", "listing.json"], { cwd: folder });
		};
		world.push({ "published.env": text });
		await world.settle();
		const { build, publish } = world.last("publish").jobs;
		assert.is(build?.result, "success", build?.log);
		assert.match(
			publish?.log ?? "",
			/^l.* dist\/v0\.9\/doc\/en\/wells -> \/proc\/self\/environ\nthe build has more/m,
		);
		assert.equal(peer.passed, []);

		world.host.afterJob = () => undefined;
		world.push({ "SECURITY.md": "how to report, again\n" });
		await world.settle();
		const { jobs } = world.last("publish");
		assert.match(jobs.publish?.log ?? "", /\d+ uploaded, 0 removed, 0 unchanged/);
		assert.is(jobs.verify?.result, "success", jobs.verify?.log);
		const fragment = await peer.read("v0.9/doc/en/wells");
		assert.is(fragment.status, 200);
		assert.match(fragment.headers.get("cache-control") ?? "", /^public, max-age=60,/);
		const [place = ""] = jobs.publish?.workspaces ?? [];
		assert.not.ok(existsSync(join(place, "dist")), "nothing is built beside the key");
	},
);

const renames: [string, string][] = [
	["another file that is renamed", "SECURITY.md"],
	["a layer that is renamed", "layers/we/wells.json"],
];

for (const [what, path] of renames) {
	test(`a patch with ${what} ends the job, and nothing is pushed`, async () => {
		using repository = new Repository({ [path]: `${world.file(path)}\n` });
		repository.write({ "layers/we/wells.service.json": `${world.file(path)}\n` });
		repository.write({ [path]: null });
		repository.git("add", "-A");
		const patch = repository.git("diff", "--cached", "--binary", "-M50%");
		assert.match(patch, `rename from ${path}`);
		world.host.afterJob = (id, { artifacts }) => {
			const folder = artifacts.get("descriptions");
			if (id === "harvest" && folder) writeFileSync(join(folder, "descriptions.patch"), patch);
		};
		const main = world.git("rev-parse", "refs/heads/main");
		world.pushed("main");
		await world.settle();
		const { judge, describe } = world.last("publish").jobs;
		assert.match(`${judge?.log}${describe?.log}`, `${path}: D 000000 is no change of a service description`);
		assert.is(world.git("rev-parse", "refs/heads/main"), main);
		assert.is(described(), null);
	});
}

test.run();
