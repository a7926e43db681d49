import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { LayerStatus } from "../../../registry/schemas/answers.ts";
import { feature } from "../../helpers/local.ts";
import { type Ended, exits, prints, runScript } from "../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../helpers/world.ts";
import { type JsonAnswer, type JsonServer, startJsonServer } from "../../scripts/json-server.ts";

interface Scene {
	server: JsonServer;
	/** What the service answers, one after the other; the last one again and again. */
	answers: JsonAnswer[];
	asked: string[];
	file: string;
}

const test = freshSuite<Scene>("one layer's status", async (use, scene) => {
	const server = await startJsonServer(({ method, path }) => {
		scene.asked.push(`${method} ${path}`);
		if (method === "PUT") return { status: 201, body: { smallkey: "wells" } };
		const answer = scene.answers.length > 1 ? scene.answers.shift() : scene.answers[0];
		return answer ?? { status: 404, body: { errors: ["smallkey: wells is not registered"] } };
	});
	const file = join(use(await temporaryFolder()).path, "layer.json");
	await writeFile(file, feature);
	return { server: use(server), answers: [], asked: [], file };
});

const at = "2026-03-04T12:00:00Z";
const waiting: LayerStatus = {
	smallkey: "wells",
	registered: at,
	commit: "0123456789abcdef0123456789abcdef01234567",
	review: null,
	declined: null,
	harvest: { state: "waiting" },
	health: { state: "unknown" },
};
const done: LayerStatus = {
	...waiting,
	harvest: { state: "done", at, findings: [], next_try: "2026-03-11T12:00:00Z" },
	health: { state: "well", at, findings: [] },
};
const findings = ["/en/service_url: answers 404"];
const failed: LayerStatus = {
	...waiting,
	review: { branch: "register/wells", commit: "89", since: at },
	harvest: { state: "failed", at, findings, next_try: "2026-03-04T12:01:00Z" },
	health: { state: "down", since: "2026-W09", at, findings },
};

const ok = (body: LayerStatus): JsonAnswer => ({ status: 200, body });

function put({ server, file }: Scene, ...words: string[]): Promise<Ended> {
	const all = ["wells", file, "--url", server.url, "--sender", "jstest", ...words];
	return runScript("put", all, { SENDER_SECRET: "a secret" });
}

test("npx fragment-publisher status <smallkey> prints what the service says of it", async (scene) => {
	scene.answers = [ok(failed)];
	const { stdout } = await exits(runScript("status", ["wells", "--url", `${scene.server.url}/rcs/`]), 0);
	assert.equal(stdout.trimEnd().split("\n"), [
		`wells registered ${at} by commit 0123456789ab`,
		`a change waits for a reviewer on register/wells, since ${at}`,
		`harvest: failed, no service of the layer answered, at ${at}`,
		"  /en/service_url: answers 404",
		"  its services are asked again at 2026-03-04T12:01:00Z",
		`health: down since 2026-W09, seen at ${at}`,
		"  /en/service_url: answers 404",
	]);
	assert.equal(scene.asked, ["GET /rcs/status/wells"]);
});

test("an unregistered key is exit code 1, no service 2, and words for all layers do not fit one", async (scene) => {
	const { server } = scene;
	const none = await exits(runScript("status", ["wells", "--url", server.url]), 1);
	assert.match(none.stderr, /^404 from http.*\nsmallkey: wells is not registered\n$/);
	scene.answers = [{ status: 200, body: { ok: true } }];
	const other = await exits(runScript("status", ["wells", "--url", server.url]), 2);
	assert.match(other.stderr, /its answer is not the status of a layer/);
	const gone = await exits(runScript("status", ["wells", "--url", "http://127.0.0.1:9"]), 2);
	assert.is(gone.stderr, "http://127.0.0.1:9/status/wells: cannot be reached, or breaks off\n");
	for (const words of [
		["wells", "--repo", "."],
		["--url", server.url],
	]) {
		assert.is((await runScript("status", words)).code, 2, words.join(" "));
	}
});

test("a status that is too large is not read to its end", async (scene) => {
	const health = { ...done.health, findings: ["x".repeat(1_000_000)] };
	scene.answers = [ok({ ...done, health })];
	const { code, stdout, stderr } = await runScript("status", ["wells", "--url", scene.server.url]);
	assert.equal([code, stdout], [2, ""]);
	assert.is(stderr, `${scene.server.url}/status/wells: answers with more than 1,000,000 bytes\n`);
});

test("put --wait prints how the layer is once its harvest has ended", async (scene) => {
	scene.answers = [ok(waiting), ok(waiting), ok(done)];
	const { stderr } = await prints(put(scene, "--wait"), 0, [
		/\n}\nwells registered .*\nharvest: done, at .*\n {2}its services are asked again at .*\nhealth: well, seen at/,
	]);
	assert.is(stderr, "Waiting until its services are asked\n");
	assert.equal(scene.asked, ["PUT /register/wells", ...Array(3).fill("GET /status/wells")]);
});

test("put --wait ends with 1 where no service answered, and with 2 where that is not known in time", async (scene) => {
	scene.answers = [ok(failed)];
	await prints(put(scene, "--wait", "60"), 1, /^ {2}\/en\/service_url: answers 404$/m);
	scene.answers = [ok(waiting)];
	const late = await exits(put(scene, "--wait", "1"), 2);
	assert.match(late.stderr, /The harvest still waits after 1 s: npx fragment-publisher status wells\n$/);
	scene.answers = [{ status: 404, body: { errors: ["status: the catalogue has it"] } }];
	const elsewhere = await put(scene, "--wait");
	assert.match(elsewhere.stderr, /status: the catalogue has it/);
	await exits(put(scene, "--wait", "x"), 2);
});

test.run();
