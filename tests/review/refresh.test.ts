import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import glob from "fast-glob";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { weekOf } from "../../registry/health.ts";
import { type LayerHealth, refreshText } from "../../review/refresh-text.ts";
import { root } from "../process.ts";
import { commands, Origin, runJob } from "./origin.ts";
import { featureFile, ownersFile } from "./repository.ts";

test("a hostile answer of a service stays text in the pull request", () => {
	const text = "| x | @maps/all <script> ``` \n\n# big [a](https://evil.example)";
	const sick = { state: "down", since: "2026-W01" } as const;
	const layers: LayerHealth[] = [
		{ smallkey: "abc", changed: true, findings: [{ state: "down", lang: "en", pointer: "/en", text }] },
	];
	const body = refreshText(layers, { health: new Map([["abc", sick]]), week: "2026-W03" }, null);
	const outside = body.replace(/<code>[A-Za-z0-9 &#;]*<\/code>/g, "");
	assert.not.match(outside, /[@<>`[\]]|evil/);
	assert.is(body.split("\n").filter((line) => line.startsWith("| <code>")).length, 1);
});

test("a table that is too long ends with a line that says so", () => {
	const layers = Array.from({ length: 5_000 }, (_, index): LayerHealth => {
		return { smallkey: `key-${index}`, changed: true, findings: [] };
	});
	const body = refreshText(layers, { health: new Map(), week: "2026-W01" }, null);
	assert.ok(body.length < 61_000);
	assert.ok(body.endsWith("|\n\nThe rest has no room here: see the changed files."));
});

let services: Server;
let origin: Origin;

test.before(async () => {
	services = createServer((request, response) => {
		response.statusCode = request.url?.startsWith("/busy/") ? 403 : 200;
		response.setHeader("Content-Type", "application/json");
		const isCount = request.url?.includes("returnCountOnly");
		const layer = { id: 1, type: "Feature Layer", name: "Wells", displayField: "NAME", fields: [] };
		response.end(JSON.stringify(isCount ? { count: 3 } : layer));
	});
	await new Promise<void>((resolve) => services.listen(0, "127.0.0.1", resolve));
	const { port } = services.address() as AddressInfo;
	const address = `http://127.0.0.1:${port}`;
	const fixtures = await glob("tests/fixtures/layers/**", { cwd: root, onlyFiles: true });
	const none = fixtures.map((path) => [path.replace("tests/fixtures/", ""), null] as const);
	origin = new Origin({
		...Object.fromEntries(none),
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`${address}/MapServer/1`),
		"layers/en/energy.json": featureFile(`${address}/busy/MapServer/1`),
	});
});

test.after(async () => {
	origin.remove();
	await new Promise((resolve) => services.close(resolve));
});

/** Runs the job that asks the services; the checkout has what it hands over. */
async function harvest(): Promise<string> {
	const cwd = origin.checkout();
	// What repairs need is in repair-job.fault.ts.
	const runs = commands("refresh", "harvest").filter((run) => !/fragments (?:repair|prove)/.test(run));
	// A service that is down ends the first with an error, which the workflow lets pass.
	await runJob(cwd, runs.slice(0, 1), { HARVEST_ALLOW_PRIVATE: "on" });
	const ended = await runJob(cwd, runs.slice(1), { HARVEST_ALLOW_PRIVATE: "on" });
	assert.is(ended.status, 0, ended.output);
	return cwd;
}

/** Runs the job that proposes; what gh was called with. */
async function propose(harvested: string, open = 0): Promise<string[]> {
	const [judging, cwd] = [origin.checkout(), origin.checkout()];
	for (const folder of [judging, cwd]) {
		mkdirSync(join(folder, "found"));
		for (const name of ["refresh.patch", "text.md"])
			copyFileSync(join(harvested, name), join(folder, "found", name));
	}
	const looked = await runJob(judging, commands("refresh", "judge"), { HEALTH: "yes" });
	assert.is(looked.status, 0, looked.output);
	const { env, calls } = origin.gh(cwd, open);
	const [judge = "", push = ""] = commands("refresh", "propose");
	const output = join(cwd, ".git", "output");
	const judged = await runJob(cwd, [judge], { ...env, HEALTH: "yes", GITHUB_OUTPUT: output });
	assert.is(judged.status, 0, judged.output);
	const CHANGED = readFileSync(output, "utf8").trim().replace("changed=", "");
	const pushed = await runJob(cwd, [push], { ...env, CHANGED });
	assert.is(pushed.status, 0, pushed.output);
	return calls().filter((call) => !call.startsWith("auth ") && !call.startsWith("pr list "));
}

const weeksAgo = (weeks: number) => weekOf(new Date(Date.now() - weeks * 7 * 86_400_000));

const cause = "answers with status 403";

test("a refresh is one commit on the branch refresh and one pull request, with the health of the services", async () => {
	const main = origin.git("rev-parse", "main");
	const harvested = await harvest();
	const text = readFileSync(join(harvested, "text.md"), "utf8");
	assert.match(text, "2 layers checked: 1 service descriptions changed, 1 layer with findings.");
	assert.match(text, /<code>wells<\/code> \| changed \| well \| well \|/);
	assert.match(text, /\| <code>energy<\/code> \| {2}\| down: .* \| 1 \|/);
	assert.equal(await propose(harvested), [
		"pr create --head refresh --base main --title Refresh service descriptions --body-file found/text.md",
	]);
	assert.is(origin.git("rev-parse", "main"), main);
	assert.is(origin.git("rev-parse", "refresh~1"), main);
	assert.match(origin.file("layers/we/wells.service.json", "refresh") ?? "", '"name": "Wells"');
	const health = { sick: { energy: { state: "down", since: weeksAgo(0), cause } } };
	assert.equal(JSON.parse(origin.file("layers/health.json", "refresh") ?? ""), health);
});

test("the next one takes its place, and counts on from its branch", async () => {
	const before = {
		sick: { energy: { state: "down", since: weeksAgo(2) }, wells: { state: "down", since: weeksAgo(6) } },
	};
	const other = origin.checkout();
	const git = (...words: string[]) => execFileSync("git", ["-C", other, ...words]);
	git("checkout", "-q", "refresh");
	writeFileSync(join(other, "layers/health.json"), JSON.stringify(before));
	git("-c", "user.name=t", "-c", "user.email=t@t.invalid", "commit", "-qam", "another week");
	git("push", "-q", "origin", "refresh");
	const harvested = await harvest();
	const text = readFileSync(join(harvested, "text.md"), "utf8");
	assert.match(text, "### Services that have been down for 3 weeks and more");
	assert.match(text, /- <code>energy<\/code>, of <code>&#64;maps&#47;energy<\/code>: 3 weeks in a row/);
	assert.equal(await propose(harvested, 1), ["pr edit refresh --body-file found/text.md"]);
	assert.is(origin.git("rev-parse", "refresh~1"), origin.git("rev-parse", "main"));
	const { sick } = JSON.parse(origin.file("layers/health.json", "refresh") ?? "");
	assert.equal(sick, { energy: { ...before.sick.energy, cause } });
});

test("where nothing is to be merged, an open pull request is closed, and nothing is opened", async () => {
	const refreshed = origin.checkout();
	writeFileSync(join(refreshed, "refresh.patch"), "");
	writeFileSync(join(refreshed, "text.md"), "nothing");
	assert.equal(await propose(refreshed, 1), ["pr close refresh --delete-branch"]);
	assert.equal(await propose(refreshed, 0), []);
});

test.run();
