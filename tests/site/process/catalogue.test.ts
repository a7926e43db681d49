import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { targetNames } from "../../../registry/targets/table.ts";
import { ServiceCatalogue } from "../../../site/process/catalogue-process.ts";
import type { catalogueOptions } from "../../../site/process/site-settings.ts";
import { listen } from "../../helpers/listen.ts";
import { Local, manual } from "../../helpers/local.ts";
import { descendantsWith, signalIfThere } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { logTo } from "../../store/git-store.ts";
import { entriesIn } from "../data/entries.ts";

const test = sharedSuite("the catalogue of the running service", async (use) => {
	const files = { "layers/23/23ax5t.json": manual };
	const local = use(await Local.open({ files, variables: { SITE: "on", BASE_PATH: "/rcs" } }));
	await inStep(local);
	return { local };
});

async function inStep(local: Local) {
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
}

function put(local: Local, smallkey: string, body = manual) {
	return local.write({ target: `/rcs/register/${smallkey}`, body });
}

async function layersIn(local: Local) {
	return (JSON.parse(await readFile(join(local.out, "index/index.json"), "utf8")) as { layers: number })
		.layers;
}

const catalogueWorkers = () => descendantsWith(process.pid, "scripts/catalogue.ts");

test("a PUT and a removal are in the index, the changes and the feed", async ({ local }) => {
	for (const smallkey of ["abc", "abd", "abe"]) assert.is((await put(local, smallkey)).status, 201);
	assert.is((await local.write({ method: "DELETE", target: "/rcs/register/abd" })).status, 204);
	await inStep(local);
	assert.is(await layersIn(local), 3);
	const feed = await readFile(join(local.out, "changes/feed.xml"), "utf8");
	assert.match(feed, "<title>abd: removed · retirée</title>");
	const entry = entriesIn(local.out).find(({ smallkey }) => smallkey === "abc");
	assert.is(entry?.sender, "Office of Maps · Bureau des cartes");
	for (const name of await readdir(join(local.out, "index"), { recursive: true }))
		if (name.endsWith(".json"))
			assert.not.match(await readFile(join(local.out, "index", name), "utf8"), "jstest", name);
});

test("deleted files are made again, and a killed process is replaced", async ({ local }) => {
	await rm(join(local.out, "index"), { recursive: true });
	await rm(join(local.out, "en/index.html"));
	const isThere = () =>
		layersIn(local).then(
			(count) => count === 3,
			() => false,
		);
	await eventually(isThere);
	await inStep(local);
	// Each process ends after its work; the system may take a moment to end it.
	await eventually(() => catalogueWorkers().length === 0);
	assert.is((await put(local, "again")).status, 201);
	await eventually(() => catalogueWorkers().length > 0);
	for (const pid of catalogueWorkers()) signalIfThere(pid, "SIGKILL");
	await eventually(async () => (await layersIn(local)) === 4);
	assert.equal(local.reported, []);
});

test("the catalogue is served below the base path, with headers of its own", async ({ local }) => {
	await using service = await listen(local);
	const get = (path: string) => fetch(`${service.origin}/rcs${path}`, { redirect: "manual" });
	for (const [path, type, text] of [
		["/", "text/html; charset=utf-8", "<title>"],
		["/index/index.json", "application/json; charset=utf-8", '"layers":'],
		["/en/layer/abc", "text/html; charset=utf-8", '<link rel="canonical" href="../../en/layer/abc">'],
		["/changes/feed.xml", "application/atom+xml; charset=utf-8", "<entry>"],
		["/collections/layers/items?ids=abc", "application/geo+json", '"numberMatched":1'],
	] as const) {
		const answer = await get(path);
		assert.equal([answer.status, answer.headers.get("content-type")], [200, type], path);
		assert.match(await answer.text(), text, path);
	}
	for (const [earlier, present] of [
		["/changes/layer/abc.xml", "/rcs/changes/feed.xml"],
		["/publisher/office.xml", "/rcs/changes/feed.xml"],
		["/publisher/office-of-maps.json", "/rcs/?q=office-of-maps"],
		["/fr/publisher/office-of-maps", "/rcs/fr/?q=office-of-maps"],
		["/fr/publisher/", "/rcs/fr/?q="],
		["/fr/health/", "/rcs/fr/?health=sick"],
		["/changes/index.json", "/rcs/changes/recent.json"],
		["/changes/0.json", "/rcs/changes/recent.json"],
	] as const) {
		const { status, headers } = await get(earlier);
		assert.equal([status, headers.get("location")], [301, present], earlier);
	}
	assert.is((await fetch(`${service.origin}/en/`)).status, 404);
	assert.is((await get("/index/../../senders.json")).status, 404);
});

test("the process ends with the service, and SITE=off leaves nothing of the catalogue", async ({ local }) => {
	await local.stop();
	assert.equal(catalogueWorkers(), []);
	local.variables.SITE = "off";
	await local.start();
	assert.equal((await readdir(local.out)).sort(), [...targetNames].sort());
	assert.equal(local.context.routes, []);
});

test("a process that cannot be started is a warning, and its start is tried again", async () => {
	const warnings: string[] = [];
	const log = { ...logTo([]), warn: (text: string) => warnings.push(text) };
	const { execPath } = process;
	process.execPath = "/nowhere/node";
	let attempts = 0;
	const options = () => {
		attempts += 1;
		return { pictures: "none" } as ReturnType<typeof catalogueOptions>;
	};
	const limits = { everyMs: 1 };
	const catalogue = new ServiceCatalogue({
		repository: "none",
		out: "none",
		worker: new URL("file:///nowhere"),
		options,
		log,
		limits,
	});
	try {
		catalogue.changed("none");
		await eventually(() => attempts > 2);
	} finally {
		process.execPath = execPath;
		await catalogue.close();
	}
	assert.is(warnings.length, 1);
	assert.match(String(warnings), /cannot be updated: spawn .*ENOENT/);
});

test.run();
