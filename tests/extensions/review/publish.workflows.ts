import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../../helpers/process.ts";
import { type Files, Repository, sharedSuite, wellsService } from "../../helpers/world.ts";
import { type Peer, startPeer } from "../../store/github-peer.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { featureFile, ownersFile } from "./repository.ts";

let origin: Origin;
let peer: Peer;
let asked = 0;

const test = sharedSuite("a publication, step by step", async (use) => {
	const services = use(
		await wellsService(() => {
			asked += 1;
			return 200;
		}),
	);
	const names = readdirSync(join(root, "tests/fixtures/layers"));
	const others = names.map((name) => [`layers/${name}`, null] as const);
	origin = new Origin({
		...Object.fromEntries(others),
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`${services.origin}/MapServer/1`),
	});
	use(() => origin.remove());
	peer = use(await startPeer());
});

/** The steps of publish.yml up to the build; publication.test.ts plays the others. */
function untilBuild(): string[] {
	const runs = commands("publish", "build");
	const end = runs.findIndex((run) => run.startsWith("npx fragment-publisher build"));
	assert.ok(end >= 0);
	return runs.slice(0, end + 1);
}

/** @param env without more the catalogue is left out: one of the builds below has it */
function publish(cwd: string, env: Record<string, string> = { SITE: "off" }) {
	return runJob(cwd, untilBuild(), env);
}

/** Whether a checkout's services had something new to say; it is in the patch then. */
async function harvest(cwd: string): Promise<string> {
	const output = join(cwd, "output");
	const env = { HARVEST_ALLOW_PRIVATE: "on", GITHUB_OUTPUT: output };
	const ended = await runJob(cwd, commands("publish", "harvest"), env);
	assert.is(ended.status, 0, ended.output);
	return readFileSync(output, "utf8");
}

/** Judges, commits and pushes what another job has harvested, in the checkout of that job's commit. */
async function describe(cwd: string, patch: string) {
	const judging = origin.checkout();
	const commit = execFileSync("git", ["-C", cwd, "rev-parse", "HEAD"], { encoding: "utf8" }).trim();
	execFileSync("git", ["-C", judging, "reset", "-q", "--hard", commit]);
	for (const folder of [judging, cwd]) {
		mkdirSync(join(folder, "harvested"));
		copyFileSync(patch, join(folder, "harvested", "descriptions.patch"));
	}
	const judged = await runJob(judging, commands("publish", "judge"), {});
	if (judged.status !== 0) return judged;
	return runJob(cwd, commands("publish", "describe"), origin.gh(cwd).env);
}

const countCommits = () => Number(origin.git("rev-list", "--count", "main"));

test("a push is built before services are asked; the harvest is a commit, and publishing it again changes nothing", async () => {
	const before = countCommits();
	const cwd = origin.checkout();
	const first = await publish(cwd, {});
	assert.is(first.status, 0, first.output);
	assert.ok(existsSync(join(cwd, "dist", "en", "index.html")));
	assert.ok(existsSync(join(cwd, "dist", "v0.9", "doc", "fr", "wells")));
	assert.is(asked, 0);

	const harvested = origin.checkout();
	assert.is(await harvest(harvested), "found=true\n");
	const [describing, late] = [origin.checkout(), origin.checkout()];
	// Another push comes first.
	origin.push({ "README.md": "newer" });
	const committed = await describe(describing, join(harvested, "descriptions.patch"));
	assert.is(committed.status, 0, committed.output);
	assert.match(origin.file("layers/we/wells.service.json") ?? "", '"name": "Wells"');
	assert.is(origin.file("README.md"), "newer");
	assert.is(countCommits(), before + 2);
	assert.is(origin.git("log", "-1", "--format=%s, %an", "main"), "describe layers, fragment-publisher");

	// The next run's checkout has what was committed.
	const calls = asked;
	const again = origin.checkout();
	const second = await publish(again);
	assert.is(second.status, 0, second.output);
	const built = readFileSync(join(again, "dist", "v0.9", "doc", "fr", "wells"), "utf8");
	assert.is(JSON.parse(built).layers.feature[0].displayName, "Wells");
	assert.is(await harvest(origin.checkout()), "found=false\n");
	assert.is(asked, calls);
	// A run of the same commit that has harvested the same has nothing to add.
	const nothing = await describe(late, join(harvested, "descriptions.patch"));
	assert.is(nothing.status, 0, nothing.output);
	assert.is(countCommits(), before + 2);
});

/** What a job may hand over that no harvest has written, and what is said of it. */
const evil: [string, Files, RegExp][] = [
	[
		"a symbolic link",
		{ "layers/we/wells.service.json": { link: "/proc/self/environ" } },
		/layers\/we\/wells\.service\.json: [AM] 120000 is no change/,
	],
	[
		"what the schema refuses",
		{ "layers/we/wells.service.json": "{}\n" },
		/layers\/we\/wells\.service\.json:\d+: /,
	],
	[
		"a description of no layer",
		{ "layers/no/none.service.json": '{"en":null,"fr":null}\n' },
		/layers\/no\/none\.service\.json/,
	],
];

for (const [what, files, error] of evil) {
	test(`of a patch with ${what} nothing is pushed, and gh is never called`, async () => {
		using repository = new Repository({ "layers/we/wells.json": featureFile() });
		repository.write(files);
		repository.git("add", "-A");
		const patch = join(repository.path, "evil.patch");
		writeFileSync(patch, repository.git("diff", "--cached", "--binary"));
		origin.push({ "layers/we/wells.service.json": null });
		const cwd = origin.checkout();
		const before = countCommits();
		const { status, output } = await describe(cwd, patch);
		assert.is.not(status, 0);
		assert.match(output, error);
		assert.is(countCommits(), before);
	});
}

test("of a patch that changes more, only service descriptions are taken", async () => {
	const cwd = origin.checkout();
	for (const path of ["layers/owners.json", "package.json"]) writeFileSync(join(cwd, path), "{}\n");
	const patch = join(cwd, "evil.patch");
	writeFileSync(patch, execFileSync("git", ["-C", cwd, "diff", "--binary"]));
	const describing = origin.checkout();
	const before = countCommits();
	await describe(describing, patch);
	for (const path of ["layers/owners.json", "package.json"])
		assert.is.not(readFileSync(join(describing, path), "utf8"), "{}\n", path);
	assert.is(countCommits(), before);
});

test("a wrong layer is named in the issue, and all others are published", async () => {
	origin.push({ "layers/ot/other.json": featureFile("https://maps.example/MapServer/1") });
	origin.push({ "layers/xx/broken.json": "{}", "layers/ot/other.json": "{" });
	const cwd = origin.checkout();
	const { status, output } = await publish(cwd);
	assert.is(status, 0, output);
	assert.match(output, "layers/xx/broken.json: must be at layers/br/broken.json");
	const folder = join(cwd, "dist", "v0.9", "doc", "fr");
	assert.equal(readdirSync(folder).sort(), ["other", "wells"]);

	const looked = await runJob(cwd, commands("publish", "validate"), {});
	assert.is(looked.status, 1);
	mkdirSync(join(cwd, "problems"));
	copyFileSync(join(cwd, "problems.txt"), join(cwd, "problems", "problems.txt"));
	const env = { ...peer.env, RUN: "https://run/1", RESULTS: "success failure skipped" };
	const reported = await runJob(cwd, commands("publish", "tell"), env);
	assert.is(reported.status, 0, reported.output);
	const { data } = await peer.api<{ title: string; body: string }[]>("GET", "/issues");
	assert.is(data[0]?.title, "The workflow publish fails");
	assert.match(data[0]?.body ?? "", "layers/ot/other.json: the document must be JSON");
});

test("when no layer is valid, the build hands over nothing", async () => {
	origin.push({ "layers/xx/broken.json": null, "layers/we/wells.json": null, "layers/ot/other.json": null });
	origin.push({ "layers/ot/other.json": "{" });
	const cwd = origin.checkout();
	assert.is((await publish(cwd)).status, 1);
	assert.not.ok(existsSync(join(cwd, "dist")));
});

test.run();
