import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { LayerStatus } from "../../../../registry/schemas/answers.ts";
import { feature } from "../../../helpers/local.ts";
import { type Ended, exits, prints, runScript, warns } from "../../../helpers/process.ts";
import { freshSuite, temporaryFolder } from "../../../helpers/world.ts";
import { type JsonAnswer, type JsonServer, startJsonServer } from "../../../scripts/json-server.ts";

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
	...{ smallkey: "wells", registered: at, commit: "0123456789abcdef0123456789abcdef01234567" },
	...{
		review: null,
		etag: null,
		declined: null,
		harvest: { state: "waiting" },
		health: { state: "unknown" },
	},
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

const ok = (body: object): JsonAnswer => ({ status: 200, body });
const status = ({ server }: Scene, path = "") => runScript("status", ["wells", "--url", server.url + path]);

function put({ server, file }: Scene, ...words: string[]): Promise<Ended> {
	const all = ["wells", file, "--url", server.url, "--sender", "jstest", ...words];
	return runScript("put", all, { SENDER_SECRET: "a secret" });
}

test("status <smallkey> prints what the service says of a layer", async (scene) => {
	scene.answers = [ok(failed)];
	const { stdout } = await exits(status(scene, "/rcs/"), 0);
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
	scene.answers = [ok({ ...waiting, registered: null, declined: { commit: "89", at, reason: "a test" } })];
	await prints(status(scene), 0, `a change was declined at ${at}: a test\n`);
});

test("an unregistered key ends with 1, and what is no service's answer with 2", async (scene) => {
	await warns(status(scene), 1, /^404 from http.*\nsmallkey: wells is not registered\n$/m);
	scene.answers = [ok({ ok: true })];
	await warns(status(scene), 2, "its answer is not the status of a layer");
});

test("put --wait prints how the layer is once its harvest has ended: 1 where no service answered, 2 where it waits", async (scene) => {
	scene.answers = [ok(waiting), ok(done)];
	await prints(
		put(scene, "--wait"),
		0,
		/\n}\nwells registered .*\nharvest: done, at .*\n.*\nhealth: well, seen at/,
	);
	assert.equal(scene.asked, ["PUT /register/wells", ...Array(2).fill("GET /status/wells")]);
	scene.answers = [ok(failed)];
	await prints(put(scene, "--wait", "60"), 1, /^ {2}\/en\/service_url: answers 404$/m);
	scene.answers = [ok(waiting)];
	await warns(
		put(scene, "--wait", "1"),
		2,
		/The harvest still waits after 1 s: npx fragment-publisher status wells\n$/,
	);
});

test.run();
