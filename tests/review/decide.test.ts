import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { healthPath } from "../../registry/health.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { feature, Local, textOf, wms } from "../local.ts";
import { type Ended, runScript } from "../process.ts";
import { eventually } from "../wait.ts";
import { Repository } from "./repository.ts";

const test = suite<{ local: Local }>("reviews of a service on this machine");

test.before.each(async (scene) => {
	const health = '{"sick":{"described":{"state":"down","since":"2026-W05"}}}';
	scene.local = await Local.open([
		{ path: layerPath("first"), text: wms("first") },
		{ path: layerPath("described"), text: feature },
		{ path: healthPath, text: health },
	]);
});
test.after.each(({ local }) => local.end());

function run(local: Local, name: string, ...words: string[]): Promise<Ended> {
	return runScript(name, words, { DATA_DIR: local.folder });
}

async function propose(local: Local, smallkey: string, body: string): Promise<void> {
	const answer = await local.write({ target: `/register/${smallkey}`, sender: "careful", body });
	assert.is(answer.status, 201);
	assert.is(local.get(`/v0.9/doc/en/${smallkey}`).status, 404);
}

test("status lists what is sick, never harvested, waiting, and the room on the disk", async ({ local }) => {
	await propose(local, "waits", wms("waits"));
	const { code, stdout, stderr } = await run(local, "status");
	assert.is(code, 0, stderr);
	assert.match(stderr, `Looking at the branch main of the repository of DATA_DIR, ${local.repository}`);
	assert.match(stdout, /^2 layers at commit [0-9a-f]{12}\n/);
	assert.match(stdout, "0 files not in order\n1 sick layer\n  described  down since 2026-W05\n");
	assert.match(stdout, "2 layers never harvested\n  described\n  first\n");
	assert.match(
		stdout,
		"1 review waits\n  register/waits  of careful, 2026-03-04: register waits (wms)  (npx fragments accept",
	);
	assert.match(stdout, /\ndisk: [\d.]+ GB of [\d.]+ GB left\nno service runs on it\n$/);
});

test("an accepted change is served, and the audit names sender and reviewer", async ({ local }) => {
	await propose(local, "waits", wms("waits"));
	const { code, stdout, stderr } = await run(local, "accept", "waits", "--by", "Ann B");
	assert.is(code, 0, stderr);
	assert.match(stderr, "Accepting register/waits of careful in the repository of DATA_DIR");
	assert.match(stdout, "waits: added\n  viewers in en read:\n");
	assert.match(stdout, /\nAccepted: [0-9a-f]{12} is on the branch main\n$/);
	await eventually(() => local.get("/v0.9/doc/en/waits").status === 200);
	assert.match(textOf(local.get("/v0.9/doc/en/waits")), "waits");
	assert.match((await run(local, "status")).stdout, "\n0 reviews wait\n");
	const audit = await run(local, "audit", "waits");
	assert.is(audit.code, 0);
	assert.match(audit.stdout, "merged by Ann B <Ann-B@reviewer.invalid>: accept register/waits\n  brought ");
	assert.match(audit.stdout, "    by the sender careful, with a signed request of ");
});

test("what others have stored meanwhile stays, and what both changed is not merged", async ({ local }) => {
	await propose(local, "waits", wms("waits"));
	assert.is((await local.put("other", wms("other"))).status, 201);
	assert.is((await run(local, "accept", "register/waits")).code, 0);
	await eventually(() => local.get("/v0.9/doc/en/waits").status === 200);
	assert.is(local.get("/v0.9/doc/en/other").status, 200);

	await local.write({ target: "/register/first", sender: "careful", body: wms("careful") });
	await local.put("first", wms("faster"));
	const before = await local.git("rev-parse", "refs/heads/main");
	const { code, stderr } = await run(local, "accept", "first");
	assert.is(code, 1);
	assert.match(
		stderr,
		"register/first: the branch main has changed the same layer since. Decline it, and ask",
	);
	assert.is(await local.git("rev-parse", "refs/heads/main"), before);
	assert.match((await run(local, "status")).stdout, "\n1 review waits\n");
});

test("a branch whose layer is wrong is not merged", async ({ local }) => {
	await propose(local, "waits", wms("waits"));
	const blob = join(local.folder, "wrong.json");
	await writeFile(blob, '{"version":"1.0.0"}');
	const id = await local.git("hash-object", "-w", blob);
	await local.git("read-tree", "--index-output=index", "refs/heads/register/waits");
	await local.git("update-index", "--add", "--cacheinfo", `100644,${id},${layerPath("waits")}`);
	const tree = await local.git("write-tree");
	const words = ["-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "x"];
	const commit = await local.git(...words, "-p", "refs/heads/register/waits");
	await local.git("update-ref", "refs/heads/register/waits", commit);
	const before = await local.state();
	const { code, stdout, stderr } = await run(local, "accept", "waits");
	assert.is(code, 1);
	assert.match(stdout, /error layers\/wa\/waits\.json.*payload_type/);
	assert.match(stderr, "Not accepted: the problems must be corrected first");
	assert.is(await local.state(), before);
});

test("a declined change is off the list, and stays with who declined it and why", async ({ local }) => {
	await propose(local, "waits", wms("waits"));
	const id = await local.git("rev-parse", "refs/heads/register/waits");
	const { code, stdout } = await run(local, "decline", "waits", "--why", "the wrong service", "--by", "Ann");
	assert.is(code, 0);
	const branch = `declined/register/waits/${id.slice(0, 12)}`;
	assert.match(stdout, `Declined; the change is kept on the branch ${branch}\n`);
	assert.match((await run(local, "status")).stdout, "\n0 reviews wait\n");
	const said = await local.git("log", "-1", "--format=%an <%ae>%n%B", `refs/heads/${branch}`);
	assert.is(said, "Ann <Ann@reviewer.invalid>\ndecline register/waits\n\nthe wrong service");
	assert.is(await local.git("rev-parse", `refs/heads/${branch}^`), id);
	await propose(local, "waits", wms("better"));
	assert.match((await run(local, "status")).stdout, "\n1 review waits\n", "its sender may try again");
});

test("what cannot be decided is refused, and nothing changes", async ({ local }) => {
	await propose(local, "waits", wms("waits"));
	const before = await local.state();
	for (const [words, error] of [
		[["accept", "nothing"], "nothing: does not wait for a review; these wait: register/waits"],
		[["accept", "main"], "main: does not wait"],
		[["accept", "../../x"], "../../x: does not wait"],
		[["accept", "waits", "--by", "a <b>"], "--by: must be a name of 1 to 100 characters without < and >"],
		[["accept"], "missing required argument 'branch'"],
		[["decline", "waits"], "--why: is needed"],
		[["decline", "nothing", "--why", "x"], "nothing: does not wait"],
	] as const) {
		const [name, ...rest] = words;
		const { code, stderr } = await run(local, name, ...rest);
		assert.is(code, 2, words.join(" "));
		assert.match(stderr, error);
	}
	assert.is(await local.state(), before);
	const checkout = new Repository({});
	const { code, stderr } = await run(local, "accept", "waits", "--repo", checkout.path);
	checkout.remove();
	assert.is(code, 2);
	assert.match(stderr, "is no repository of a service; a pull request is merged where it was opened");
});

test.run();
