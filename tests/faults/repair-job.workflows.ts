import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { browserPath } from "../../extensions/prove/browser.ts";
import { Peer } from "../extensions/harvest/peer.ts";
import { oddService, serveOdd } from "../extensions/repair/odd-service.ts";
import { command, commands, Origin, runJob } from "../extensions/review/origin.ts";
import { featureFile } from "../extensions/review/repository.ts";
import { runScript } from "../helpers/process.ts";
import { suite } from "../helpers/suite.ts";

const test = suite("repairs on GitHub, from the search to the pull request");

const hasJq = (() => {
	try {
		execFileSync("jq", ["--version"]);
		return true;
	} catch {
		return false;
	}
})();
const jobTest = hasJq && browserPath ? test : test.skip;

let peer: Peer;
let origin: Origin;
/** What GitHub says of pull requests. */
let pulls: object[] = [];

test.before(async () => {
	peer = await Peer.open();
	serveOdd(peer, 3);
	const folder = mkdtempSync(join(tmpdir(), "publisher-layers-"));
	const layer = featureFile(`${peer.origin}${oddService}/3`);
	mkdirSync(join(folder, "mo"));
	writeFileSync(join(folder, "mo/moved.json"), layer);
	assert.is((await runScript("harvest", ["--layers", folder], { HARVEST_ALLOW_PRIVATE: "on" })).code, 0);
	const service = readFileSync(join(folder, "mo/moved.service.json"), "utf8");
	rmSync(folder, { recursive: true });
	const health = '{"sick":{"moved":{"state":"wrong","since":"2026-W09"}}}';
	origin = new Origin({
		"layers/mo/moved.json": layer,
		"layers/mo/moved.service.json": service,
		"layers/health.json": health,
	});
	serveOdd(peer, 5);
	// A picture of the layer as it was before it moved.
	const cwd = origin.checkout();
	const proof = { day: "2026-02-25", langs: {}, picture: "mo/moved.012345678901.webp" };
	mkdirSync(join(cwd, "pictures/mo"), { recursive: true });
	writeFileSync(join(cwd, "pictures", proof.picture), "RIFF");
	const proofs = JSON.stringify({ version: 1, layers: { moved: proof } });
	writeFileSync(join(cwd, "pictures/proofs.json"), proofs);
	assert.is((await runJob(cwd, commands("prove", "keep"), origin.gh(cwd).env)).status, 0);
});
test.after(async () => {
	origin.remove();
	await peer.close();
});

/** Runs the job that reads the pull requests. @returns its checkout, its environment, and what it hands on */
async function readPulls(runs = 1) {
	const cwd = origin.checkout();
	const { env } = origin.gh(cwd, 0, pulls, runs);
	const output = join(cwd, ".git/output");
	writeFileSync(output, "");
	const read = await runJob(cwd, commands("refresh", "pulls"), { ...env, GITHUB_OUTPUT: output });
	assert.is(read.status, 0, read.output);
	const outputs = Object.fromEntries(
		readFileSync(output, "utf8")
			.split("\n")
			.map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
	);
	return { cwd, env, refs: outputs.refs ?? "", isSearched: outputs.search === "true" };
}

/** Runs what the job that asks the services does for repairs. @returns its checkout, and whether it searched */
async function search(runs = 1, draws = true): Promise<{ cwd: string; isSearched: boolean }> {
	const { cwd, env, refs, isSearched } = await readPulls(runs);
	if (!isSearched) return { cwd, isSearched };
	const step = (name: string) => command("refresh", "harvest", name);
	const settings = { PICTURES: "pictures", HARVEST_ALLOW_PRIVATE: "on" };
	const variables = { ...env, ...settings, REFS: refs };
	const steps = [step("Look for services that have moved")];
	if (draws) steps.push(step("Draw what is proposed"));
	const ended = await runJob(cwd, steps, variables);
	assert.is(ended.status, 0, ended.output);
	return { cwd, isSearched };
}

/** Runs the job that proposes with what the other one handed over. @returns what gh was called with */
async function propose(searched: string, open: number): Promise<string[]> {
	const cwd = origin.checkout();
	cpSync(join(searched, "repairs"), join(cwd, "found"), { recursive: true });
	const { env, calls } = origin.gh(cwd, open);
	const ended = await runJob(
		cwd,
		[...commands("refresh", "judge").slice(0, 1), ...commands("refresh", "repair")],
		{ ...env, HARVEST_ALLOW_PRIVATE: "on" },
	);
	assert.is(ended.status, 0, ended.output);
	return calls().filter((call) => /^pr (?:create|edit|close)/.test(call));
}

const isMarked = (cwd: string) => readFileSync(join(cwd, "layers/health.json"), "utf8").includes("repair");

/** A pull request of the branch repair/moved as GitHub's API describes it. */
const pullOf = (more: object) => ({
	number: 7,
	title: "repair moved: the same layer at another place",
	merged_at: null,
	head: { ref: "repair/moved", repo: { full_name: "maps/layers" } },
	base: { repo: { full_name: "maps/layers" } },
	...more,
});

jobTest("a repair is proposed with both pictures and in both languages", async () => {
	const main = origin.git("rev-parse", "main");
	const { cwd } = await search();
	assert.ok(isMarked(cwd), "the health says that a repair is proposed");
	const text = readFileSync(join(cwd, "repairs/repair/moved/text.md"), "utf8");
	assert.match(text, "the same layer\n");
	assert.match(text, "la même couche\n");
	const address = "https://github.example/maps/layers/raw/pictures/";
	assert.match(text, `![no picture · pas d’image](${address}mo/moved.012345678901.webp)`);
	assert.match(text, `![no picture · pas d’image](${address}proposed/mo/moved.webp)`);
	assert.equal(await propose(cwd, 0), [
		"pr create --head repair/moved --base main --title repair moved: the same layer at another place --body-file found/repair/moved/text.md",
	]);
	const files = origin.git("ls-tree", "-r", "--name-only", "pictures").split("\n");
	for (const path of ["mo/moved.012345678901.webp", "proofs.json", "proposed/mo/moved.webp"])
		assert.ok(files.includes(path), path);
	assert.is(origin.git("rev-parse", "main"), main);
	origin.git("update-ref", "refs/pull/7/head", "refs/heads/repair/moved");
});

jobTest("while it waits it is not proposed again, and the health still says so", async () => {
	pulls = [pullOf({ state: "open" })];
	const { cwd } = await search();
	assert.equal(await propose(cwd, 1), []);
	assert.ok(isMarked(cwd));
	assert.match(origin.git("ls-tree", "-r", "--name-only", "pictures"), "proposed/mo/moved.webp");
});

jobTest("one search a day: the next run of the day asks no host", async () => {
	peer.asked.length = 0;
	assert.not((await search(2)).isSearched);
	assert.equal(peer.asked, []);
});

jobTest("a pull request that was closed is declined, also where its branch is kept", async () => {
	pulls = [pullOf({ state: "closed" })];
	assert.ok(origin.git("rev-parse", "repair/moved"), "the branch is kept");
	const { cwd } = await search(1, false);
	assert.equal(await propose(cwd, 0), []);
	assert.not(isMarked(cwd));
	assert.not(existsSync(join(cwd, "repairs/repair")));
});

jobTest("a pull request from a fork, or a withdrawn one, declines nothing", async () => {
	const fork = { ref: "repair/moved", repo: { full_name: "fork/layers" } };
	pulls = [
		pullOf({ state: "closed", head: fork }),
		pullOf({ state: "closed", title: "withdrawn: repair/moved" }),
	];
	assert.not.match((await readPulls()).refs, "declined/");
	pulls = [pullOf({ state: "closed" })];
	assert.match((await readPulls()).refs, "refs/pull/7/head:refs/heads/declined/repair/moved");
});

jobTest("a proposal of a layer that is well again is withdrawn, with its picture", async () => {
	pulls = [pullOf({ state: "open" })];
	serveOdd(peer, 3);
	const { cwd } = await search();
	assert.is(readFileSync(join(cwd, "repairs/withdrawn.txt"), "utf8"), "repair/moved\n");
	assert.match((await propose(cwd, 1)).join("\n"), "pr close repair/moved --delete-branch");
	assert.not.match(origin.git("ls-tree", "-r", "--name-only", "pictures"), "moved.webp");
});

test.run();
