import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createFetch } from "../../harvest/net/fetch.ts";
import { buildOutput } from "../../hosting/output.ts";
import { browserArguments, browserPath } from "../../prove/browser.ts";
import { drawLayer } from "../../prove/draw.ts";
import { serveFolder } from "../../prove/serve-folder.ts";
import { healthPath } from "../../registry/health.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { layerDocument } from "../harvest/arcgis-server.ts";
import { json, Peer, type Route } from "../harvest/peer.ts";
import { Local } from "../local.ts";
import { runScript } from "../process.ts";

const test = suite<{ local: Local; peer: Peer }>("npx fragments repair");

const service = "/arcgis/rest/services/Odd/MapServer";
const cors =
	(value: unknown): Route =>
	(_request, response) => {
		response.writeHead(200, { "Content-Type": "application/json", "Access-Control-Allow-Origin": "*" });
		response.end(JSON.stringify(value));
	};

/** Serves the layer under a number. */
function serve(peer: Peer, id: number): void {
	peer.routes.clear();
	peer.on(service, json({ layers: [{ id, name: "Stations", parentLayerId: -1 }] }));
	peer.on(`${service}/${id}`, json(layerDocument({ id, minScale: 0 })));
	peer.on(`${service}/legend`, json({ layers: [] }));
	peer.on(`${service}/${id}/query`, (request, response) => {
		const isCount = request.url?.includes("returnCountOnly");
		const geometry = { x: 0, y: 500_000 };
		cors(isCount ? { count: 1 } : { features: [{ attributes: { OBJECTID: 1 }, geometry }] })(
			request,
			response,
		);
	});
}

test.before.each(async (scene) => {
	scene.peer = await Peer.open();
	serve(scene.peer, 3);
	const entry = { service_url: `${scene.peer.origin}${service}/3` };
	const text = JSON.stringify({ version: "1.0.0", payload_type: "feature", en: entry, fr: entry });
	scene.local = await Local.open([{ path: layerPath("moved"), text }]);
	const folder = join(scene.local.folder, "checkout");
	const git = async (...words: string[]) => scene.local.git("-C", folder, ...words);
	await scene.local.git("clone", "-q", scene.local.repository, folder);
	const env = { HARVEST_ALLOW_PRIVATE: "on" };
	assert.is((await runScript("harvest", ["--repo", folder], env)).code, 0);
	await git("add", "-A");
	await git("-c", "user.name=op", "-c", "user.email=op@example.org", "commit", "-q", "-m", "harvested");
	await git("push", "-q", "origin", "HEAD:main");
});
test.after.each(async ({ local, peer }) => {
	await local.end();
	await peer.close();
});

const browserTest = browserPath ? test : test.skip;

async function setHealth(local: Local): Promise<void> {
	const folder = join(local.folder, "checkout");
	await writeFile(join(folder, healthPath), '{"sick":{"moved":{"state":"wrong","since":"2020-W09"}}}');
	for (const words of [
		["add", "-A"],
		["-c", "user.name=op", "-c", "user.email=op@example.org", "commit", "-q", "-m", "sick"],
		["push", "-q", "origin", "HEAD:main"],
	])
		await local.git("-C", folder, ...words);
}

browserTest(
	"a layer that moved is proposed, and what is merged draws in the catalogue",
	async ({ local, peer }) => {
		await setHealth(local);
		serve(peer, 5);
		const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
		const off = await runScript("repair", [], { ...env, REPAIR: "off" });
		assert.match(off.stdout, "REPAIR=off: no service is looked for");
		assert.is(await local.git("for-each-ref", "refs/heads/repair"), "", "and nothing was proposed");
		const { code, stdout, stderr } = await runScript("repair", [], env);
		assert.is(code, 0, stderr);
		assert.match(stdout, "repair/moved: repair moved: the same layer at another place\n");
		assert.match(stdout, "1 sick layer checked, 1 repair proposed\n");
		const shown = await runScript("review", ["show", "repair/moved"], env);
		assert.match(shown.stdout, "| fields | 5 | all of them | yes |");
		const commit = await local.git("rev-parse", "refs/heads/repair/moved");
		const words = ["accept", "repair/moved", "--by", "Ann", "--commit", commit.trim()];
		const accepted = await runScript("review", words, env);
		assert.is(accepted.code, 0, accepted.stderr);
		const dist = join(local.folder, "proof");
		await buildOutput({ repository: local.repository, ref: "main" }, dist, { SITE: "on" });
		const site = await serveFolder(dist);
		const browser = await chromium.launch({
			executablePath: browserPath as string,
			args: browserArguments(),
		});
		try {
			const fetch = createFetch({ allowPrivate: true });
			const drawn = await drawLayer(
				{ browser, site: site.address, fetch, clock: () => performance.now() },
				"moved",
				"en",
			);
			assert.is(drawn.text, "1 feature drawn.");
			assert.is(drawn.isDrawn, true);
		} finally {
			await browser.close();
			site.close();
		}
	},
);

test("what a reviewer declines is not proposed again, and nothing is merged", async ({ local, peer }) => {
	await setHealth(local);
	serve(peer, 5);
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	const main = await local.git("rev-parse", "main");
	assert.match((await runScript("repair", [], env)).stdout, "1 repair proposed");
	const words = ["decline", "repair/moved", "--by", "Ann", "--why", "The new number is a test."];
	const declined = await runScript("review", words, env);
	assert.is(declined.code, 0, declined.stderr);
	assert.match((await runScript("repair", [], env)).stdout, "1 sick layer checked, 0 repairs proposed\n");
	assert.is(await local.git("for-each-ref", "refs/heads/repair"), "");
	assert.is(await local.git("rev-parse", "main"), main);
});

test("for pull requests there is a patch, a title, a text and the evidence", async ({ local, peer }) => {
	await setHealth(local);
	serve(peer, 5);
	const [folder, out] = [join(local.folder, "checkout"), join(local.folder, "repairs")];
	const health = join(folder, healthPath);
	const { code, stderr } = await runScript(
		"repair",
		["--repo", folder, "--ref", "HEAD", "--health", health, "--out", out],
		{
			HARVEST_ALLOW_PRIVATE: "on",
		},
	);
	assert.is(code, 0, stderr);
	const read = (name: string) => readFile(join(out, "repair/moved", name), "utf8");
	assert.match(await read("repair.patch"), "MapServer/5");
	assert.is(await read("title.txt"), "repair moved: the same layer at another place\n");
	const evidence = (await read("evidence.txt")).trim();
	assert.match(await read("text.md"), `\n\nEvidence: ${evidence}\n`);
	assert.match(await readFile(health, "utf8"), '"repair":true');
	await local.git("-C", folder, "apply", "--check", join(out, "repair/moved/repair.patch"));
});

test.run();
