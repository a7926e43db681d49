import { execFile } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { weekOf } from "../../../registry/health.ts";
import { descriptionPath, layerPath } from "../../../registry/smallkey.ts";
import { type LayerHealth, refreshBody } from "../../../review/refresh/body.ts";
import { connectToGithub } from "../../../service/github.ts";
import { readConfiguration } from "../../../service/settings.ts";
import { StoreBusy } from "../../../store/store.ts";
import { cleanEnvironment, root, runScript } from "../../process.ts";
import { type Peer, startPeer } from "../../store/github-peer.ts";
import { featureFile, ownersFile, Repository, wmsFile } from "../repository.ts";

test("a hostile answer of a service stays text in the pull request", () => {
	const text = "| x | @maps/all <script> ``` \n\n# big [a](https://evil.example)";
	const sick = { state: "down", since: "2026-W01" } as const;
	const layers: LayerHealth[] = [
		{ smallkey: "abc", changed: true, findings: [{ state: "down", lang: "en", pointer: "/en", text }] },
	];
	const body = refreshBody(layers, { health: new Map([["abc", sick]]), week: "2026-W03" }, null);
	const outside = body.replace(/<code>[A-Za-z0-9 &#;]*<\/code>/g, "");
	assert.not.match(outside, /[@<>`[\]]|evil/);
	assert.is(body.split("\n").filter((line) => line.startsWith("| <code>")).length, 1);
});

test("a table that is too long ends with a line that says so", () => {
	const layers = Array.from({ length: 5_000 }, (_, index): LayerHealth => {
		return { smallkey: `key-${index}`, changed: true, findings: [] };
	});
	const body = refreshBody(layers, { health: new Map(), week: "2026-W01" }, null);
	assert.ok(body.length < 61_000);
	assert.ok(body.endsWith("|\n\nThe rest has no room here: see the changed files."));
});

let peer: Peer;
let services: Server;
let address: string;
let checkout: Repository;

/** What the workflows set. */
function settings(): Record<string, string> {
	return {
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_TOKEN: peer.token,
		GITHUB_API_URL: peer.proxy.url,
		HARVEST_ALLOW_PRIVATE: "on",
	};
}

/** Runs one of the project's scripts in a checkout of layers. */
async function run(name: string, { path } = checkout): Promise<string> {
	process.chdir(path);
	try {
		const { code, stdout, stderr } = await runScript(name, [], settings());
		assert.is(code, 0, stderr);
		return stdout;
	} finally {
		process.chdir(root);
	}
}

/** The same in a process of its own, as the workflows do. */
async function runAsProcess(name: string, args: string[], env: Record<string, string>): Promise<string> {
	const words = [join(root, "scripts/fragments.cjs"), name, ...args];
	const options = { cwd: checkout.path, env: cleanEnvironment({ ...settings(), ...env }) };
	return (await promisify(execFile)(process.execPath, words, options)).stdout;
}

/** A service description as harvesting writes it, with a name. */
function description(name: string): string {
	const entry = {
		service_url: `${address}/MapServer/1`,
		name,
		display_field: "",
		geometry_type: "esriGeometryPoint",
		min_scale: 0,
		max_scale: 0,
		extent: null,
		fields: [],
		renderer: { type: "simple", label: "", image: "data:image/png;base64,AAAA" },
		count: 3,
	};
	return `${JSON.stringify({ en: entry, fr: entry }, null, 2)}\n`;
}

test.before(async () => {
	services = createServer((request, response) => {
		const down = request.url?.startsWith("/down/");
		response.statusCode = down ? 404 : 200;
		if (request.url?.startsWith("/busy/")) response.statusCode = 403;
		response.setHeader("Content-Type", "application/json");
		response.end(JSON.stringify({ id: 1, type: "Feature Layer", name: "Wells", fields: [] }));
	});
	await new Promise<void>((resolve) => services.listen(0, "127.0.0.1", resolve));
	address = `http://127.0.0.1:${(services.address() as AddressInfo).port}`;
	peer = await startPeer();
	const files = {
		"layers/owners.json": ownersFile,
		"layers/we/wells.json": featureFile(`${address}/MapServer/1`),
		"layers/en/energy.json": featureFile(`${address}/busy/MapServer/1`),
	};
	for (const [path, text] of Object.entries(files)) await peer.push(path, text);
	checkout = new Repository(files);
});

test.after(async () => {
	checkout?.remove();
	await new Promise((resolve) => services.close(resolve));
	await peer.close();
});

interface Pull {
	title: string;
	body: string;
	head: { ref: string };
	html_url: string;
}

async function pulls(state = "open"): Promise<Pull[]> {
	return (await peer.api<Pull[]>("GET", `/pulls?state=${state}`)).data;
}

test("the time for GitHub begins with the first request, however long the services took before", async () => {
	let ahead = 0;
	const configuration = readConfiguration({
		GITHUB_REPOSITORY: peer.repository,
		GITHUB_TOKEN: peer.token,
		GITHUB_API_URL: peer.proxy.url,
	});
	const { rest, repo } = connectToGithub(configuration, undefined, () => new Date(Date.now() + ahead));
	ahead = 3 * 3_600_000;
	assert.is((await rest.repos.get(repo)).status, 200);
	ahead += 3_600_000;
	try {
		await rest.repos.get(repo);
		assert.unreachable("it ends some time");
	} catch (error) {
		assert.instance(error, StoreBusy);
	}
});

test("a dry run prints the text and writes nothing", async () => {
	const before = await peer.commits();
	const body = await runAsProcess("refresh", ["--dry-run"], { GITHUB_TOKEN: "" });
	assert.match(body, "2 layers looked at: 0 service descriptions changed, 1 layer with findings.");
	assert.match(body, /### <code>&#64;maps&#47;energy<\/code>/);
	assert.equal(await peer.commits(), before);
	assert.equal(await pulls(), []);
});

test("a refresh is one pull request, of one commit, with the health of the services", async () => {
	const main = await peer.commits();
	checkout.write("layers/we/wells.service.json", description("Wells"));
	assert.match(await run("refresh"), /^pull request http/);
	const [pull, ...others] = await pulls();
	assert.equal(others, []);
	assert.is(pull?.head.ref, "refresh");
	assert.match(pull?.body ?? "", /<code>wells<\/code> \| changed \| well \| well \|/);
	assert.match(pull?.body ?? "", /\| <code>energy<\/code> \| {2}\| down: .* \| 1 \|/);
	assert.equal(await peer.commits(), main);
	assert.is(await peer.file("layers/we/wells.service.json", "refresh"), description("Wells"));
	const health = { sick: { energy: { state: "down", since: weekOf(new Date()) } } };
	assert.equal(JSON.parse((await peer.file("layers/health.json", "refresh")) ?? ""), health);
	assert.is((await peer.commits("refresh")).length, main.length + 1);
});

test("the next one brings it up to date, and goes on counting on its branch", async () => {
	const weeksAgo = (weeks: number) => weekOf(new Date(Date.now() - weeks * 7 * 86_400_000));
	const before = {
		sick: { energy: { state: "down", since: weeksAgo(2) }, wells: { state: "down", since: weeksAgo(6) } },
	};
	await peer.push("layers/health.json", JSON.stringify(before), "refresh");
	checkout.write("layers/we/wells.service.json", description("More wells"));
	await run("refresh");
	const [pull, ...others] = await pulls();
	assert.equal(others, []);
	assert.match(pull?.body ?? "", "### Services that have been down for 3 weeks and more");
	assert.match(
		pull?.body ?? "",
		/- <code>energy<\/code>, of <code>&#64;maps&#47;energy<\/code>: 3 weeks in a row/,
	);
	assert.is(await peer.file("layers/we/wells.service.json", "refresh"), description("More wells"));
	const { sick } = JSON.parse((await peer.file("layers/health.json", "refresh")) ?? "");
	assert.equal(sick, { energy: before.sick.energy });
	assert.is((await peer.commits("refresh")).length, (await peer.commits()).length + 1);
});

test("a description of a layer that has changed meanwhile is left out", async () => {
	await peer.push("layers/we/wells.json", featureFile(`${address}/MapServer/2`));
	await run("refresh");
	assert.is(await peer.file("layers/we/wells.service.json", "refresh"), null);
	await peer.push("layers/we/wells.json", featureFile(`${address}/MapServer/1`));
});

test("what harvesting wrote is committed, and a second time changes nothing", async () => {
	checkout.write("layers/we/wells.service.json", description("Wells"));
	checkout.write("layers/xx/stray.json", wmsFile("not asked for"));
	const before = await peer.commits();
	assert.match(await run("commit-descriptions"), /^commit [0-9a-f]{40}\n$/);
	const after = await peer.commits();
	assert.is(after.length, before.length + 1);
	assert.is(after[0]?.commit.message, "describe 1 layer");
	assert.is(await peer.file("layers/we/wells.service.json"), description("Wells"));
	assert.is(await peer.file("layers/xx/stray.json"), null);
	assert.is(await run("commit-descriptions"), "they are stored already\n");
	assert.equal(await peer.commits(), after);
});

test("many descriptions are several commits, and what the checkout has is not asked for", async () => {
	const keys = Array.from({ length: 201 }, (_, index) => `many${String(index).padStart(3, "0")}`);
	const edits = keys.map((key) => ({
		path: layerPath(key),
		text: featureFile(`${address}/MapServer/${key}`),
	}));
	const meta = { smallkey: null, author: "tester", time: 0, subject: "many layers", trailers: [] };
	await peer.store().change(async () => edits, { ...meta, request: null, review: false });
	const many = new Repository(Object.fromEntries(edits.map(({ path, text }) => [path, text])));
	try {
		for (const key of keys) many.write(descriptionPath(key), description(key));
		const before = await peer.commits();
		peer.proxy.requests.length = 0;
		const output = await run("commit-descriptions", many);
		assert.match(output, /^commit [0-9a-f]{40}\ncommit [0-9a-f]{40}\n$/);
		const after = await peer.commits();
		assert.is(after.length, before.length + 2);
		assert.equal(
			after.slice(0, 2).map(({ commit }) => commit.message),
			["describe 1 layer", "describe 200 layers"],
		);
		for (const key of ["many000", "many200"])
			assert.is(await peer.file(descriptionPath(key)), description(key));
		assert.ok(peer.proxy.requests.length <= 2 * 6, peer.proxy.requests.join("\n"));
	} finally {
		many.remove();
	}
});

test("where nothing is to be merged, the open pull request is closed", async () => {
	checkout.write("layers/xx/stray.json", null);
	checkout.write("layers/en/energy.json", featureFile(`${address}/MapServer/3`));
	assert.match(await run("refresh"), "nothing to merge");
	assert.equal(await pulls(), []);
	assert.is((await pulls("closed")).length, 1);
});

test.run();
