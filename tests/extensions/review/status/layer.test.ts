import * as assert from "uvu/assert";
import { exits, runScript, warns } from "../../../helpers/process.ts";
import { freshSuite } from "../../../helpers/world.ts";
import { type JsonAnswer, type JsonServer, startJsonServer } from "../../../scripts/json-server.ts";

interface Scene {
	server: JsonServer;
	answer: JsonAnswer;
	asked: string[];
}

const test = freshSuite<Scene>("one layer's status", async (use, scene) => {
	const server = await startJsonServer(({ method, path }) => {
		scene.asked.push(`${method} ${path}`);
		return scene.answer;
	});
	const answer = { status: 404, body: { errors: ["smallkey: wells is not registered"] } };
	return { server: use(server), answer, asked: [] };
});

const status = ({ server }: Scene, path = "") => runScript("status", ["wells", "--url", server.url + path]);

test("status <smallkey> prints what the service says of a layer", async (scene) => {
	const body = { smallkey: "wells", harvest: { state: "failed", findings: ["/en: \u202e"] } };
	scene.answer = { status: 200, body };
	const { stdout } = await exits(status(scene, "/rcs/"), 0);
	assert.equal(JSON.parse(stdout), { ...body, harvest: { state: "failed", findings: ["/en: \u202e"] } });
	assert.not.match(stdout, "\u202e");
	assert.equal(scene.asked, ["GET /rcs/status/wells"]);
});

test("an unregistered key ends with 1, and what is no service's answer with 2", async (scene) => {
	await warns(status(scene), 1, /^404 from http.*\nsmallkey: wells is not registered\n$/m);
	scene.answer = { status: 200, body: { ok: true } };
	await warns(status(scene), 2, "its answer is not the status of a layer");
});

test.run();
