import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { browserPath, serveFolder } from "../../../extensions/prove/browser.ts";
import { drawLayer } from "../../../extensions/prove/draw.ts";
import { healthPath } from "../../../registry/health.ts";
import { layerPath } from "../../../registry/smallkey.ts";
import { buildOutput } from "../../../site/build/output.ts";
import { Local, noon } from "../../helpers/local.ts";
import { runScript } from "../../helpers/process.ts";
import { freshSuite, gitIn } from "../../helpers/world.ts";
import { openBrowser } from "../../site/browser.ts";
import { Peer } from "../harvest/peer.ts";
import { oddService, serveOdd } from "./odd-service.ts";

const test = freshSuite("npx fragment-publisher repair", async (use) => {
	const peer = use(await Peer.open());
	serveOdd(peer, 3);
	const entry = { service_url: `${peer.origin}${oddService}/3` };
	const text = JSON.stringify({ version: "1.0.0", payload_type: "feature", en: entry, fr: entry });
	const health = '{"sick":{"moved":{"state":"wrong","since":"2026-W10"}}}';
	const local = use(await Local.open({ files: { [layerPath("moved")]: text, [healthPath]: health } }));
	const folder = join(local.folder, "checkout");
	const git = gitIn(folder);
	await local.git("clone", "-q", local.repository, folder);
	const env = { HARVEST_ALLOW_PRIVATE: "on" };
	assert.is((await runScript("harvest", ["--repo", folder], env)).code, 0);
	await git("add", "-A");
	await git("commit", "-q", "-m", "harvested");
	await git("push", "-q", "origin", "HEAD:main");
	return { local, peer };
});

const browserTest = browserPath ? test : test.skip;

/** A time on a later day than the layers' first commit, which names the sick one. */
const later = (days = 1) => ({ now: () => new Date(noon + days * 86_400_000) });

browserTest(
	"a layer that moved is proposed, and what is merged draws in the catalogue",
	async ({ local, peer }) => {
		serveOdd(peer, 5);
		const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
		const off = await runScript("repair", [], { ...env, REPAIR: "off" });
		assert.match(off.stdout, "REPAIR=off: no service is looked for");
		assert.is(await local.git("for-each-ref", "refs/heads/repair"), "", "and nothing was proposed");
		const { code, stdout, stderr } = await runScript("repair", [], env, later());
		assert.is(code, 0, stderr);
		assert.match(stdout, "repair/moved: repair moved: the same layer at another place\n");
		assert.match(stdout, "1 sick layer checked, 1 repair proposed\n");
		const shown = await runScript("review", ["show", "repair/moved"], env);
		assert.match(shown.stdout, "| fields | 5 | 5 | yes |");
		assert.match(
			shown.stdout,
			"Picture of moved as it was last drawn: none\nPicture of moved after the repair: none yet",
		);
		const proved = await runScript("prove", ["--repo", local.repository, "--proposed"], env);
		assert.is(proved.code, 0, proved.stderr);
		const picture = join(local.folder, "pictures/proposed/mo/moved.webp");
		assert.match(
			(await runScript("review", ["show", "moved"], env)).stdout,
			`after the repair: ${picture}\n`,
		);
		assert.is((await readFile(picture)).toString("latin1", 8, 12), "WEBP");
		const commit = await local.git("rev-parse", "refs/heads/repair/moved");
		const words = ["accept", "repair/moved", "--by", "Ann", "--commit", commit.trim()];
		const accepted = await runScript("review", words, env);
		assert.is(accepted.code, 0, accepted.stderr);
		const dist = join(local.folder, "proof");
		await buildOutput({ repository: local.repository, ref: "main" }, dist, { SITE: "on" });
		const site = await serveFolder(dist);
		const browser = await openBrowser();
		try {
			const fetch = createFetch({ allowPrivate: true });
			const drawn = await drawLayer({ browser, site: site.address, fetch }, "moved", "en");
			assert.is(drawn.features, 1);
			assert.is(drawn.cause, undefined);
		} finally {
			await browser.close();
			site.close();
		}
	},
);

test("the audit takes a repair for the service's own, when it waits and when it is accepted", async (scene) => {
	const { local, peer } = scene;
	serveOdd(peer, 5);
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	assert.match((await runScript("repair", [], env, later())).stdout, "1 repair proposed");
	const own = "by the service itself: repair moved: the same layer at another place\n";
	assert.match((await runScript("review", ["show", "repair/moved"], env)).stdout, own);
	const commit = (await local.git("rev-parse", "refs/heads/repair/moved")).trim();
	const words = ["accept", "repair/moved", "--by", "Ann", "--commit", commit];
	const accepted = await runScript("review", words, env);
	assert.is(accepted.code, 0, accepted.stderr);
	const { code, stdout } = await runScript("audit", ["moved"], env);
	assert.is(code, 0, stdout);
	assert.match(stdout, own);
});

test("a dry run writes nothing, a list says what waits, and a sick layer without a proposal has a reason", async (scene) => {
	const { local, peer } = scene;
	serveOdd(peer, 5);
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	const dry = await runScript("repair", ["--dry-run"], env, later());
	assert.match(dry.stdout, "repair/moved: repair moved: the same layer at another place\n");
	assert.is(await local.git("for-each-ref", "refs/heads/repair"), "");
	const list = async () => (await runScript("repair", ["--list"], env, later())).stdout;
	assert.is(await list(), "");
	await runScript("repair", [], env, later());
	assert.is(await list(), "repair/moved: repair moved: the same layer at another place (moved)\n");
	peer.routes.clear();
	const { stdout } = await runScript("repair", ["--dry-run"], env, later());
	assert.match(
		stdout,
		/^moved: nothing is proposed: tried (?:https, )?service; nothing answers as a layer does$/m,
	);
	assert.is(await list(), "repair/moved: repair moved: the same layer at another place (moved)\n");
});

test("several places that agree alike cannot be accepted as they are, and nothing is merged", async (scene) => {
	const { local, peer } = scene;
	serveOdd(peer, 5, 7);
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	const main = await local.git("rev-parse", "main");
	assert.match(
		(await runScript("repair", [], env, later())).stdout,
		"repair moved: choose one of several places",
	);
	const commit = (await local.git("rev-parse", "refs/heads/repair/moved")).trim();
	const words = ["accept", "repair/moved", "--by", "Ann", "--commit", commit];
	const accepted = await runScript("review", words, env);
	assert.is(accepted.code, 1);
	assert.match(
		accepted.stderr,
		"repair/moved: several places agree alike, and nothing is chosen: register the one",
	);
	assert.is(await local.git("rev-parse", "main"), main, "nothing was merged");
	assert.is((await local.git("rev-parse", "refs/heads/repair/moved")).trim(), commit, "and it still waits");
});

test("a file of health that cannot be read is an error, and one that is not there means that no layer was sick", async (scene) => {
	const { local } = scene;
	const run = (health: string) =>
		runScript("repair", ["--repo", local.repository, "--health", health], { HARVEST_ALLOW_PRIVATE: "on" });
	const folder = await run(local.folder);
	assert.is(folder.code, 2);
	assert.match(folder.stderr, `${local.folder}: cannot be read: EISDIR`);
	assert.not.match(folder.stdout, "checked");
	const below = await run(join(local.repository, "HEAD", "health.json"));
	assert.is(below.code, 2);
	assert.match(below.stderr, "HEAD/health.json: cannot be read: ENOTDIR");
	const missing = await run(join(local.folder, "none.json"));
	assert.is(missing.code, 0, missing.stderr);
	assert.match(missing.stderr, "none.json: is not there, so no layer was sick");
	assert.match(missing.stdout, "0 sick layers checked");
});

test("a layer that was seen sick on the same day only is not looked for", async ({ local, peer }) => {
	serveOdd(peer, 5);
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	const sameDay = { now: () => new Date(noon + 11 * 3_600_000) };
	assert.match((await runScript("repair", [], env, sameDay)).stdout, "0 sick layers checked");
	assert.is(await local.git("for-each-ref", "refs/heads/repair"), "", "nothing was proposed");
	assert.match(
		(await runScript("repair", [], env, later())).stdout,
		"1 sick layer checked, 1 repair proposed",
	);
});

test("all runs of a day share the requests to a host", async ({ local, peer }) => {
	peer.routes.clear();
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	const file = join(local.repository, "repair-requests.json");
	const hosts = async () => JSON.parse(await readFile(file, "utf8"));
	await runScript("repair", [], env, later());
	const first = await hosts();
	const ofRun = first.hosts["127.0.0.1"];
	assert.ok(ofRun > 0);
	await runScript("repair", [], env, later());
	assert.equal(await hosts(), { day: "2026-03-05", hosts: { "127.0.0.1": 2 * ofRun } });
	await writeFile(file, JSON.stringify({ ...first, hosts: { "127.0.0.1": 199 } }));
	peer.asked.length = 0;
	await runScript("repair", [], env, later());
	assert.is(peer.asked.length, 1, "the last one of the day");
	await runScript("repair", [], env, later(2));
	assert.equal((await hosts()).day, "2026-03-06");
	assert.ok(peer.asked.length > 2, "another day has requests of its own");
});

test.run();
