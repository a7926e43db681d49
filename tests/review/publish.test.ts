import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { root } from "../process.ts";
import { type Peer, startPeer } from "../store/github-peer.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { type Files, featureFile, ownersFile } from "./repository.ts";

let origin: Origin;
let services: Server;
let peer: Peer;
let asked = 0;

/** The steps of publish.yml up to the build; what follows needs a hosting. */
function untilBuild(): string[] {
	const runs = commands("publish", "publish");
	const end = runs.findIndex((run) => run.startsWith("npx fragments build"));
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

/** Commits what another job has harvested. */
function describe(cwd: string, patch: string) {
	mkdirSync(join(cwd, "harvested"));
	copyFileSync(patch, join(cwd, "harvested", "descriptions.patch"));
	const env = { GITHUB_TOKEN: peer.token, GITHUB_API_URL: peer.proxy.url };
	return runJob(cwd, commands("publish", "describe"), env);
}

test.before(async () => {
	services = createServer((request, response) => {
		asked += 1;
		response.setHeader("Content-Type", "application/json");
		const isCount = request.url?.includes("returnCountOnly");
		const layer = { id: 1, type: "Feature Layer", name: "Wells", displayField: "NAME", fields: [] };
		response.end(JSON.stringify(isCount ? { count: 3 } : layer));
	});
	await new Promise<void>((resolve) => services.listen(0, "127.0.0.1", resolve));
	const { port } = services.address() as AddressInfo;
	const own: Files = {
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`http://127.0.0.1:${port}/MapServer/1`),
	};
	const others = readdirSync(join(root, "tests/fixtures/layers")).map(
		(name) => [`layers/${name}`, null] as const,
	);
	origin = new Origin({ ...Object.fromEntries(others), ...own });
	peer = await startPeer();
	for (const [path, text] of Object.entries(own)) await peer.push(path, text as string);
});

test.after(async () => {
	origin.remove();
	await new Promise((resolve) => services.close(resolve));
	await peer.close();
});

test("a push is built before anybody is asked; what is harvested then is a commit, which changes nothing more", async () => {
	const before = (await peer.commits()).length;
	const cwd = origin.checkout();
	const first = await publish(cwd, {});
	assert.is(first.status, 0, first.output);
	assert.ok(existsSync(join(cwd, "dist", "en", "index.html")));
	assert.ok(existsSync(join(cwd, "dist", "v0.9", "doc", "fr", "wells")));
	assert.is(asked, 0);

	const harvested = origin.checkout();
	assert.is(await harvest(harvested), "found=true\n");
	const committed = await describe(origin.checkout(), join(harvested, "descriptions.patch"));
	assert.is(committed.status, 0, committed.output);
	const path = "layers/we/wells.service.json";
	const description = await peer.file(path);
	assert.match(description ?? "", '"name": "Wells"');
	assert.is((await peer.commits()).length, before + 1);

	// The next run's checkout has what was committed.
	origin.push({ [path]: description });
	const calls = asked;
	const again = origin.checkout();
	const second = await publish(again);
	assert.is(second.status, 0, second.output);
	const built = readFileSync(join(again, "dist", "v0.9", "doc", "fr", "wells"), "utf8");
	assert.is(JSON.parse(built).layers.feature[0].displayName, "Wells");
	assert.is(await harvest(origin.checkout()), "found=false\n");
	assert.is(asked, calls);
	assert.is((await peer.commits()).length, before + 1);
});

test("of a patch that changes more, only service descriptions are taken", async () => {
	const evil = origin.checkout();
	writeFileSync(join(evil, "layers", "we", "wells.service.json"), "{}\n");
	writeFileSync(join(evil, "layers", "owners.json"), "{}\n");
	writeFileSync(join(evil, "package.json"), "{}\n");
	const patch = join(evil, "evil.patch");
	writeFileSync(patch, execFileSync("git", ["-C", evil, "diff", "--binary"]));
	const cwd = origin.checkout();
	const before = (await peer.commits()).length;
	await describe(cwd, patch);
	for (const path of ["layers/owners.json", "package.json"])
		assert.is.not(readFileSync(join(cwd, path), "utf8"), "{}\n", path);
	assert.is((await peer.commits()).length, before + 1);
	assert.is(await peer.file("layers/owners.json"), ownersFile);
});

test("a wrong layer holds nothing up: all others are published, and it is in the issue", async () => {
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
	const env = { GITHUB_TOKEN: peer.token, GITHUB_API_URL: peer.proxy.url, RUN: "https://run/1" };
	const told = await runJob(cwd, commands("publish", "tell"), { ...env, RESULTS: "success failure skipped" });
	assert.is(told.status, 0, told.output);
	const { data } = await peer.api<{ title: string; body: string }[]>("GET", "/issues");
	assert.is(data[0]?.title, "The workflow publish fails");
	assert.match(data[0]?.body ?? "", "layers/ot/other.json: the document must be JSON");
});

test("where nothing is in order nothing is handed over", async () => {
	origin.push({ "layers/xx/broken.json": null, "layers/we/wells.json": null, "layers/ot/other.json": null });
	origin.push({ "layers/ot/other.json": "{" });
	const cwd = origin.checkout();
	assert.is((await publish(cwd)).status, 1);
	assert.not.ok(existsSync(join(cwd, "dist")));
});

test.run();
