import { access } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { versionLine } from "../../../system/files/version.ts";
import { ask, write } from "../../conformance/client.ts";
import { senders, wms, wmsFragment } from "../../conformance/engine.ts";
import { nginx, spawnNginx } from "../../conformance/nginx-engine.ts";
import { manual } from "../../helpers/local.ts";
import { exits, runScript, ServerProcess } from "../../helpers/process.ts";
import { folderSuite } from "../../helpers/world.ts";

/** The service behind nginx on one machine, as deploy/fragments.service runs it, below a prefix. */
const test = folderSuite("one machine");

const base = "/rcs";

function startService(folder: string): Promise<ServerProcess> {
	return ServerProcess.start({ DATA_DIR: folder, SENDERS: JSON.stringify(senders), BASE_PATH: base });
}

async function put(origin: string, smallkey: string, body: string): Promise<void> {
	const answer = await write(origin, "PUT", `${base}/register/${smallkey}`, { body });
	assert.is(answer.status, 201, answer.text);
}

const compressed = (folder: string, path: string) =>
	access(join(folder, "dist", `${path}.gz`)).then(
		() => true,
		() => false,
	);

test("reads and writes are below BASE_PATH, through nginx too", async ({ folder }) => {
	const service = await startService(folder);
	const { origin: behind } = new URL(service.url);
	await put(behind, "a+b=c", wms("plus"));
	const front =
		nginx.missing === null ? await spawnNginx(new URL(behind).host, join(folder, "dist"), base) : null;
	for (const origin of front ? [behind, front.origin] : [behind]) {
		for (const path of ["doc/en/a+b=c", "doc/en/a%2Bb%3Dc"]) {
			const answer = await ask(origin, "GET", `${base}/v0.9/${path}`);
			assert.equal(JSON.parse(answer.text), wmsFragment("a+b=c", "en", "plus"));
		}
		assert.is((await ask(origin, "GET", `${base}/v0.9/docs/en/a+b=c`)).status, 200);
		assert.is((await ask(origin, "GET", `${base}/healthz`)).text, `ok ${versionLine()}\n`);
		for (const path of [
			"/v0.9/doc/en/a+b=c",
			"/v0.9/docs/en/a+b=c",
			"/healthz",
			`/x${base}/v0.9/doc/en/a+b=c`,
		]) {
			assert.is((await ask(origin, "GET", path)).status, 404, path);
		}
	}
	await front?.stop();
	await service.stop();
});

test("a layer that changes after compression is served with its new content", async ({ folder }) => {
	const first = await startService(folder);
	await put(new URL(first.url).origin, "changing", manual);
	await put(new URL(first.url).origin, "resting", manual);
	await put(new URL(first.url).origin, "kept", manual);
	await first.stop();
	const out = join(folder, "dist");
	const words = ["--repo", join(folder, "repository.git"), "--out", out, "--compress"];
	await exits(runScript("build", words), 0);

	const second = await startService(folder);
	assert.ok(await compressed(folder, "v0.9/doc/en/changing"), "the start leaves the copies");
	await put(new URL(second.url).origin, "changing", wms("changed"));
	const removed = await write(new URL(second.url).origin, "DELETE", `${base}/register/resting`);
	assert.is(removed.status, 204);
	for (const key of ["changing", "resting"]) {
		assert.not.ok(await compressed(folder, `v0.9/doc/en/${key}`), `the copy of ${key} is gone with the 201`);
	}
	assert.ok(await compressed(folder, "v0.9/doc/en/kept"));
	await second.stop();
});

test.run();
