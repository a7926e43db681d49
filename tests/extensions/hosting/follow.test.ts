import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { exits, runScript } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { freshSuite, Repository, temporaryFolder } from "../../helpers/world.ts";
import { startJsonServer } from "../../scripts/json-server.ts";
import { ownersFile, wmsFile } from "../review/repository.ts";

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

function follow({ folder, remote }: Scene, words: string[], io = {}) {
	const all = ["--out", join(folder, "dist"), "--remote", remote.path, ...words];
	return runScript("follow", all, { DATA_DIR: join(folder, "data"), SITE: "off" }, io);
}

test("follow builds what is pushed; while the repository is away or all wrong, the output stays", async (scene) => {
	const { remote, built } = scene;
	const controller = new AbortController();
	let output = "";
	const write = (text: string) => {
		output += `${text}\n`;
	};
	const io = { print: write, warn: write, interrupted: () => controller.signal };
	const ended = follow(scene, ["--every", "1"], io);
	const away = `${remote.path}.away`;
	try {
		await eventually(() => built("aaa") !== null);
		remote.commit("another", { "layers/bb/bbb.json": wmsFile("second"), "layers/aa/aaa.json": null });
		await eventually(() => built("bbb") !== null && built("aaa") === null);
		remote.git("reset", "-q", "--hard", "HEAD^");
		await eventually(() => built("aaa") !== null);
		renameSync(remote.path, away);
		await eventually(() => output.includes("not updated: "));
		assert.ok(built("aaa"));
		renameSync(away, remote.path);
		remote.commit("all of it removed", { "layers/aa/aaa.json": null });
		remote.commit("never good", { "layers/aa/aaa.json": "{" });
		await eventually(() => output.includes("aaa.json: the document must be JSON"));
		assert.ok(built("aaa"));
		remote.commit("another", { "layers/bb/bbb.json": wmsFile("second") });
		await eventually(() => built("bbb") !== null);
	} finally {
		if (existsSync(away)) renameSync(away, remote.path);
		controller.abort();
		assert.is((await ended).code, 0, output);
	}
	assert.match(output, /^[0-9a-f]{40}: \d+ written, \d+ unchanged, \d+ removed$/m);
	assert.is(output.split("not updated: ").length, 3, "each reason once, however often it looked");
});

test("git gets the token for this repository alone, and no part of it is printed", async ({ folder }) => {
	const asked: string[] = [];
	await using server = await startJsonServer(({ path, headers }) => {
		asked.push(`${path} ${headers.authorization}`);
		return { status: 404, body: {} };
	});
	const env = {
		...{ DATA_DIR: join(folder, "data"), GITHUB_REPOSITORY: "maps/layers" },
		...{ GITHUB_API_URL: `${server.url}/api/v3`, GITHUB_TOKEN: "the-token-of-the-test" },
	};
	const words = ["--out", join(folder, "dist"), "--once"];
	const { stdout, stderr } = await exits(runScript("follow", words, env), 2);
	const basic = Buffer.from("x-access-token:the-token-of-the-test").toString("base64");
	assert.is(asked[0], `/maps/layers.git/info/refs Basic ${basic}`);
	for (const text of ["the-token", basic]) assert.not.match(stdout + stderr, text);
});

test.run();
