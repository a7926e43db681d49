import { join } from "node:path";
import * as assert from "uvu/assert";
import { browserPath } from "../../../extensions/prove/browser.ts";
import { healthPath, layerPath } from "../../../registry/smallkey.ts";
import { Local, noon } from "../../helpers/local.ts";
import { exits, prints, runScript } from "../../helpers/process.ts";
import { freshSuite, gitIn, writeFiles } from "../../helpers/world.ts";
import { Peer } from "../harvest/peer.ts";
import { oddService, serveOdd } from "./world.ts";

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
	const env = { DATA_DIR: local.folder, HARVEST_ALLOW_PRIVATE: "on" };
	await exits(runScript("harvest", ["--layers", join(folder, "layers")], env), 0);
	await git("add", "-A");
	await git("commit", "-q", "-m", "harvested");
	await git("push", "-q", "origin", "HEAD:main");
	return { local, peer, env };
});

const browserTest = browserPath ? test : test.skip;

browserTest("a layer that moved is proposed, and what is merged draws", async ({ local, peer, env }) => {
	serveOdd(peer, 5);
	await prints(runScript("repair", [], { ...env, REPAIR: "off" }), 0, "REPAIR=off: no service is looked for");
	assert.is(await local.git("for-each-ref", "refs/heads/repair"), "");
	// On a later day than the first commit of the layers, which names the sick one.
	const later = { now: () => new Date(noon + 86_400_000) };
	await prints(runScript("repair", [], env, later), 0, [
		"repair/moved: repair moved: the same layer at another place\n",
		"1 sick layer checked, 1 repair proposed\n",
	]);
	const own = "by the service itself: repair moved: the same layer at another place\n";
	await prints(runScript("review", ["show", "moved"], env), 0, [own, "| fields | 5 | 5 | yes |"]);
	const commit = await local.git("rev-parse", "refs/heads/repair/moved");
	const words = ["accept", "repair/moved", "--by", "Ann", "--commit", commit];
	await exits(runScript("review", words, env), 0);
	await prints(runScript("audit", ["moved"], env), 0, own);
	const folder = join(local.folder, "checkout/layers");
	await gitIn(folder)("pull", "-q", "origin", "main");
	writeFiles(folder, { "ba/bad.json": "{" });
	const { stdout, stderr } = await runScript("prove", ["--layers", folder], env);
	assert.match(stdout, "1 of 1 layer draw, 0 not checked yet");
	assert.is(stderr.match(/bad\.json/g)?.length, 1, "a wrong file keeps no other layer from being drawn");
});

test.run();
