import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { openGithubService } from "../../../service/github-composition.ts";
import { readConfiguration } from "../../../service/settings.ts";
import { type Ended, exits, root, runScript } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, Repository, temporaryFolder } from "../../helpers/world.ts";
import { ownersFile, wmsFile } from "../../review/repository.ts";
import { startJsonServer } from "../json-server.ts";

interface Scene {
	remote: Repository;
	folder: string;
	/** A fragment of the output, or null. */
	built: (smallkey: string) => string | null;
}

const test = freshSuite<Scene>("npx fragment-publisher follow", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const layer = { "layers/aa/aaa.json": wmsFile("first") };
	const remote = use(new Repository({ "layers/owners.json": ownersFile, ...layer }));
	const built = (smallkey: string) => {
		const file = join(folder, "dist/v0.9/doc/en", smallkey);
		return existsSync(file) ? readFileSync(file, "utf8") : null;
	};
	return { folder, remote, built };
});

function words({ folder, remote }: Scene, ...more: string[]): string[] {
	return ["--out", join(folder, "dist"), "--remote", remote.path, ...more];
}

/** Follows until it is stopped. */
function start(scene: Scene, env: Record<string, string> = {}) {
	const controller = new AbortController();
	let output = "";
	const write = (text: string) => {
		output += `${text}\n`;
	};
	const io = { print: write, warn: write, interrupted: () => controller.signal };
	const all = { DATA_DIR: join(scene.folder, "data"), ...env };
	const ended: Promise<Ended> = runScript("follow", words(scene, "--every", "1"), all, io);
	const end = async () => {
		controller.abort();
		assert.is((await ended).code, 0, output);
	};
	return { end, output: () => output };
}

test("follow builds what is pushed, removes what was deleted, and ends on a signal", async (scene) => {
	const { remote, built } = scene;
	const { end, output } = start(scene);
	try {
		await eventually(() => built("aaa") !== null);
		remote.commit("another", { "layers/bb/bbb.json": wmsFile("second"), "layers/aa/aaa.json": null });
		await eventually(() => built("bbb") !== null && built("aaa") === null);
		// History that was rewritten.
		remote.git("reset", "-q", "--hard", "HEAD^");
		await eventually(() => built("aaa") !== null && built("bbb") === null);
	} finally {
		await end();
	}
	assert.match(output(), /^[0-9a-f]{40}: \d+ written, \d+ unchanged, \d+ removed$/m);
});

test("the service on GitHub reads what is followed, as it is now", async (scene) => {
	const env = { DATA_DIR: join(scene.folder, "data") };
	const github = { GITHUB_REPOSITORY: "maps/layers", GITHUB_TOKEN: "t" };
	process.chdir(scene.folder);
	try {
		const service = await openGithubService(readConfiguration({ ...env, ...github }), new Map());
		const layerOf = (smallkey: string) => {
			const fragment = service.fragments("v0.9", "en", smallkey);
			return fragment && JSON.parse(new TextDecoder().decode(fragment.body)).layers.wms[0].layerName;
		};
		assert.is(layerOf("aaa"), null);
		await runScript("follow", words(scene, "--once"), env);
		assert.is(layerOf("aaa"), "first");
		scene.remote.commit("change", { "layers/aa/aaa.json": wmsFile("second") });
		await runScript("follow", words(scene, "--once"), env);
		assert.is(layerOf("aaa"), "second");
		await service.close();
	} finally {
		process.chdir(root);
	}
});

test("while the repository is unreachable or has no valid layer, the output stays, and follow reports it once", async (scene) => {
	const { remote, built } = scene;
	const { end, output } = start(scene);
	const away = `${remote.path}.away`;
	try {
		await eventually(() => built("aaa") !== null);
		renameSync(remote.path, away);
		await eventually(() => output().includes("not updated: "));
		assert.ok(built("aaa"));
		renameSync(away, remote.path);
		remote.commit("all of it broken", { "layers/aa/aaa.json": null });
		remote.commit("never good", { "layers/aa/aaa.json": "{" });
		await eventually(() => output().includes("aaa.json: the document must be JSON"));
		assert.ok(built("aaa"));
		remote.commit("another", { "layers/bb/bbb.json": wmsFile("second") });
		await eventually(() => built("bbb") !== null);
	} finally {
		if (existsSync(away)) renameSync(away, remote.path);
		await end();
	}
	// Each reason once, however often it looked.
	assert.is(output().split("not updated: ").length, 3, output());
	assert.is(output().split("It works again.").length, 2, output());
});

test("--once builds and ends; a lock that a killed process left does not stop the next", async (scene) => {
	const env = { DATA_DIR: join(scene.folder, "data") };
	await exits(runScript("follow", words(scene, "--once"), env), 0);
	assert.ok(scene.built("aaa"));
	const heads = join(env.DATA_DIR, "follow.git/refs/heads");
	mkdirSync(heads, { recursive: true });
	writeFileSync(join(heads, "main.lock"), "");
	scene.remote.commit("another", { "layers/bb/bbb.json": wmsFile("second") });
	await exits(runScript("follow", words(scene, "--once"), env), 0);
	assert.ok(scene.built("bbb"));
	const missing = await runScript("follow", words(scene, "--once"), { ...env, GITHUB_BRANCH: "none" });
	assert.is(missing.code, 2);
	assert.match(missing.stderr, "git fetch: ");
	assert.ok(scene.built("bbb"), "what was built stays");
});

test("git gets the token for this repository alone, and no part of it is printed", async ({ folder }) => {
	const asked: string[] = [];
	await using server = await startJsonServer(({ path, headers }) => {
		asked.push(`${path} ${headers.authorization}`);
		return { status: 404, body: {} };
	});
	const env = {
		DATA_DIR: join(folder, "data"),
		GITHUB_REPOSITORY: "maps/layers",
		GITHUB_API_URL: `${server.url}/api/v3`,
		GITHUB_TOKEN: "the-token-of-the-test",
	};
	const { code, stdout, stderr } = await runScript("follow", ["--out", join(folder, "dist"), "--once"], env);
	assert.is(code, 2);
	const basic = Buffer.from("x-access-token:the-token-of-the-test").toString("base64");
	assert.is(asked[0], `/maps/layers.git/info/refs Basic ${basic}`);
	assert.not.match(stdout + stderr, "the-token");
	assert.not.match(stdout + stderr, basic);
});

test.run();
