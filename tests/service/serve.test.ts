import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import glob from "fast-glob";
import * as assert from "uvu/assert";
import { wmsFragment } from "../conformance/engine.ts";
import { copyLayers, feature, manual, wms } from "../helpers/local.ts";
import {
	cleanEnvironment,
	descendantsOf,
	descendantsWith,
	root,
	runScript,
	ServerProcess,
	sendRaw,
} from "../helpers/process.ts";
import { signed } from "../helpers/signed.ts";
import { eventually } from "../helpers/wait.ts";
import { gitIn, sharedSuite, temporaryFolder } from "../helpers/world.ts";

const run = promisify(execFile);
const secret = "test_-k";

const test = sharedSuite("service", async () => {
	const { path: folder, remove } = await temporaryFolder();
	await writeFile(join(folder, "foreign.txt"), "not ours");
	const env: Record<string, string> = { DATA_DIR: folder, SENDERS: JSON.stringify({ jstest: secret }) };
	const server = await ServerProcess.start(env);
	await put(server, "toporama");
	return { folder, remove, env, server };
});
test.after(async ({ server, remove }) => {
	await server.stop();
	await remove();
});

async function put(server: ServerProcess, smallkey: string, body = manual): Promise<Response> {
	const target = `/register/${smallkey}`;
	return fetch(server.url + target, await signed(target, body));
}

test("a trial starts with the examples of the checkout, and a production start with none", async (context) => {
	assert.match(context.server.output, /^Serving 0 layers at /m);
	assert.match(context.server.output, /^ +none yet: the examples of this checkout are for a trial/m);
	const { path, remove } = await temporaryFolder();
	await copyLayers(path);
	const files = await glob("layers/*/*.json", { cwd: path, ignore: ["**/*.service.json"] });
	const keys = files.map((file) => basename(file, ".json"));
	assert.is(keys.length, 22);
	const inProduction = await ServerProcess.start({ NODE_ENV: "production" }, path);
	assert.match(inProduction.output, /^Serving 0 layers at /m);
	await inProduction.stop();
	await rm(join(path, ".data"), { recursive: true });
	const trial = await ServerProcess.start({}, path);
	const answer = await fetch(`${trial.url}/v0.9/docs/fr/${[...keys, "none"].join()}`);
	const found = (await answer.json()) as { layers?: object; smallkey?: string }[];
	assert.equal(found.pop(), { error_code: 404, smallkey: "none" });
	assert.is(found.filter(({ layers }) => layers !== undefined).length, keys.length);
	await trial.stop();
	await remove();
});

test("no process that it starts has its secrets in its environment", async ({ server }) => {
	assert.is((await put(server, "environment")).status, 201);
	// But for esbuild, which is there before any of its code: it is what turns TypeScript into JavaScript.
	const loader = new Set(descendantsWith(server.pid, "esbuild", "--service"));
	const children = descendantsOf(server.pid).filter((pid) => !loader.has(pid));
	assert.ok(children.length > 0);
	for (const pid of children) {
		const text = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
		assert.not.match(text, secret);
	}
});

test("a layer is registered, read back by doc, docs and a script, and still there after a restart", async (context) => {
	assert.is((await fetch(`${context.server.url}/v0.9/doc/en/manual-1`)).status, 404);
	const answer = await put(context.server, "manual-1");
	assert.is(answer.status, 201);
	const receipt = (await answer.json()) as { fragments: string[]; commit: string; published: boolean };
	assert.is(receipt.published, true);
	const element = wmsFragment("manual-1", "en", "limits");
	const readBack = async () => {
		const { url } = context.server;
		assert.equal(await (await fetch(url + receipt.fragments[0])).json(), element);
		const several = await fetch(`${url}/v0.9/docs/en/manual-1,none`);
		assert.equal(await several.json(), [element, { error_code: 404, smallkey: "none" }]);
		const script = await (await fetch(`${url}/v0.9/docs/en/manual-1?callback=a.b`)).text();
		const called: unknown[] = [];
		new Function("a", script)({ b: (array: unknown) => called.push(array) });
		assert.equal(called, [[element]]);
	};
	await readBack();
	assert.is(await context.server.stop(), 0);
	context.server = await ServerProcess.start(context.env);
	await readBack();
	const main = await gitIn(join(context.folder, "repository.git"))("rev-parse", "main");
	assert.is(main, receipt.commit);
	assert.is(await readFile(join(context.folder, "foreign.txt"), "utf8"), "not ours");
	assert.equal(
		JSON.parse(await readFile(join(context.folder, "dist/v0.9/doc/en/manual-1"), "utf8")),
		element,
	);
});

test("a list of keys that was asked before holds each change at once", async ({ server }) => {
	const ask = async () => {
		const answer = await fetch(`${server.url}/v0.9/docs/en/again-1,again-2`);
		return { etag: answer.headers.get("ETag"), text: await answer.text() };
	};
	const before = await ask();
	assert.equal(await ask(), before);
	await put(server, "again-2", wms("one"));
	const registered = await ask();
	assert.match(registered.text, '"layerName":"one"');
	await put(server, "again-2", wms("two"));
	const changed = await ask();
	assert.match(changed.text, '"layerName":"two"');
	assert.is(new Set([before.etag, registered.etag, changed.etag]).size, 3);
	await fetch(`${server.url}/register/again-2`, await signed("/register/again-2", "", { method: "DELETE" }));
	assert.equal(await ask(), before);
});

test("a refused write is in French for who asks for that, in the same form, and nothing is stored", async (context) => {
	const { url } = context.server;
	const refused = async (language: string, body: string, more: object = {}) => {
		const { headers, ...request } = await signed("/register/french", body);
		const answer = await fetch(`${url}/register/french`, {
			...request,
			headers: { ...(headers as object), "Accept-Language": language, ...more },
		});
		const said = (await answer.json()) as { errors: string[] };
		return [answer.status, said.errors, answer.headers.get("Content-Language")];
	};
	assert.equal(await refused("fr", wms("one").replace("{", '{"my: member":1,')), [
		400,
		["/my: member: n’est pas un membre connu"],
		"fr",
	]);
	const body = feature.replace("MapServer/1", "MapServer").replace('"1.0.0"', '"9"');
	assert.equal(await refused("fr-CA,fr;q=0.9,en;q=0.5", body), [
		400,
		[
			'/version: doit être 1.x.y, comme 1.0.0, ou 2.0, et non "9"',
			"/en/service_url: doit se terminer par le numéro d’une couche\u00a0: …/MapServer est un service entier",
		],
		"fr",
	]);
	assert.equal(await refused("en", body), [
		400,
		[
			'/version: must be 1.x.y, such as 1.0.0, or 2.0, not "9"',
			"/en/service_url: must end with the number of one layer: …/MapServer is a whole service",
		],
		null,
	]);
	const [status, errors] = await refused("fr", body, { Sender: "nobody" });
	assert.is(status, 401);
	assert.match(String(errors), /^Authorization: n’est pas la signature de ce chemin/);
	assert.is((await fetch(`${url}/v0.9/doc/en/french`)).status, 404);
});

test("the warnings of a receipt are in French for who asks for that; the rest stays", async ({ server }) => {
	const send = async (language: string) => {
		const { headers, ...request } = await signed("/register/warned", wms("warned"));
		const answer = await fetch(`${server.url}/register/warned`, {
			...request,
			headers: { ...(headers as object), "Accept-Language": language },
		});
		assert.is(answer.status, 201);
		const { warnings, ...rest } = (await answer.json()) as { warnings: string[] };
		return { warnings, rest, language: answer.headers.get("Content-Language") };
	};
	const english = await send("en");
	const french = await send("fr-CA");
	assert.is(english.warnings[0], "/en/service_url: is not https: a page over https cannot load it");
	assert.is(
		french.warnings[0],
		"/en/service_url: n’est pas en https\u00a0: une page en https ne peut pas afficher son contenu",
	);
	assert.equal([english.language, french.language], [null, "fr"]);
	assert.equal(french.rest, { ...english.rest, changed: false });
});

test("a refused question about a layer is in French for who asks for that", async ({ server }) => {
	const refused = async (path: string, language: string) => {
		const answer = await fetch(`${server.url}${path}`, { headers: { "Accept-Language": language } });
		const { headers, status } = answer;
		const { errors } = (await answer.json()) as { errors: string[] };
		return [status, errors, headers.get("Content-Language"), headers.get("Vary")];
	};
	assert.equal(await refused("/status/none", "fr"), [404, ["smallkey: none n’est pas inscrit"], "fr", null]);
	assert.equal(await refused("/status/none", "en"), [404, ["smallkey: none is not registered"], null, null]);
});

test("the catalogue recovers from a moment without free file descriptors", async () => {
	const folder = await temporaryFolder();
	const server = await ServerProcess.start({ DATA_DIR: folder.path, SITE: "on", NODE_ENV: "production" });
	const limitFiles = (most: number) => run("prlimit", [`--pid=${server.pid}`, `--nofile=${most}:`]);
	// One connection that stays open: without a file descriptor the service accepts no other.
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const ask = async (path: string) => {
		const [response] = await once(get(server.url + path, { agent }), "response");
		response.resume();
		await once(response, "end");
		return response.statusCode as number;
	};
	try {
		const built = join(folder.path, "dist.catalogue");
		await eventually(() => stat(built).then(Boolean, () => false));
		assert.is(await ask("/healthz"), 200);
		await limitFiles(1);
		const without = [await ask("/en/"), await ask("/status/none")];
		await limitFiles(1_000);
		assert.equal(without, [500, 500]);
		await eventually(async () => (await ask("/en/")) === 200);
		assert.is(await ask("/status/none"), 404);
	} finally {
		agent.destroy();
		await server.stop();
		await folder.remove();
	}
});

test("junk is answered or cut off, and never a 500", async ({ server }) => {
	const junk = [
		"GET /v0.9/doc/en/\xff\xfe HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"GET /v0.9/docs/en/%00,%ff,\\ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"GET http://other/v0.9/doc/en/toporama HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"GET /v0.9/doc/en/a?%%% HTTP/1.1\r\nHost: h\r\nIf-None-Match: ,,,W/\r\nConnection: close\r\n\r\n",
		"PUT /register/\xe9 HTTP/1.1\r\nHost: h\r\nSender: \xe9\r\nTimeStamp: \xff\r\nAuthorization: \x80\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"PUT /register/a?x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
		"PUT //register/a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"TRACE /register/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"DELETE /v0.9/doc/en/toporama HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
		"OPTIONS * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"PUT /register/a HTTP/1.1\r\nHost: h\r\nSender: a\r\nSender: b\r\nAuthorization: x\r\nAuthorization: y\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"PUT /register/a HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\nContent-Length: 0\r\n\r\n",
		"\0\0\0",
		"GET",
		"PUT /register/a HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
		`GET /${"x".repeat(200_000)} HTTP/1.1\r\nHost: h\r\n\r\n`,
	];
	const answers = await Promise.all(
		junk.map((bytes) =>
			sendRaw(server.port, Buffer.from(bytes, "latin1")).catch((error: Error) => String(error)),
		),
	);
	answers.forEach((answer, index) => {
		assert.match(
			answer,
			/^HTTP\/1\.1 (?:2|4)\d\d |ECONNRESET|EPIPE/,
			`${junk[index]?.slice(0, 60)} → ${answer.slice(0, 200)}`,
		);
		assert.not.match(answer, /\bat .*\.ts/);
	});
	assert.is((await fetch(`${server.url}/healthz`)).status, 200);
	assert.not.match(server.output, '"error"');
});

test("the log has a line for each write and each refusal, without secrets", async ({ server }) => {
	await put(server, "logged");
	await fetch(`${server.url}/v0.9/doc/en/absent?secret=1`);
	await fetch(`${server.url}/v0.9/doc/en/toporama`);
	const lineFor = (path: string) => server.log.find((line) => line.path === path);
	await eventually(
		() => lineFor("/register/logged") !== undefined && lineFor("/v0.9/doc/en/absent") !== undefined,
	);
	const { time, milliseconds, id, ...line } = lineFor("/register/logged") ?? {};
	assert.type(id, "string");
	assert.equal(line, { method: "PUT", path: "/register/logged", status: 201, sender: "jstest" });
	assert.type(milliseconds, "number");
	assert.is(lineFor("/v0.9/doc/en/absent")?.status, 404);
	const answeredReads = server.log.filter((line) => line.method === "GET" && Number(line.status) < 400);
	assert.equal(answeredReads, [], "other reads are only counted");
	assert.not.match(server.output, secret);
	assert.not.match(server.output, "secret=1");
});

test("a second process takes over when the first one ends, and after a kill", async (context) => {
	const second = ServerProcess.start(context.env);
	await put(context.server, "handed-over");
	await context.server.stop();
	context.server = await second;
	await context.server.stop("SIGKILL");
	context.server = await ServerProcess.start(context.env);
	assert.is((await fetch(`${context.server.url}/v0.9/doc/en/handed-over`)).status, 200);
});

test("SIGTERM finishes what was accepted, then exits 0", async (context) => {
	const answers = Array.from({ length: 20 }, (_, index) =>
		put(context.server, `last-${index}`, wms(`n${index}`)),
	);
	await Promise.race(answers);
	const code = context.server.stop();
	const settled = await Promise.allSettled(answers);
	assert.is(await code, 0);
	context.server = await ServerProcess.start(context.env);
	for (const [index, result] of settled.entries()) {
		if (result.status !== "fulfilled" || result.value.status !== 201) continue;
		assert.is((await fetch(`${context.server.url}/v0.9/doc/en/last-${index}`)).status, 200);
	}
});

test("put, sign and remove work as publishers use them", async ({ server, folder }) => {
	const env = { SENDER_SECRET: secret };
	const file = join(folder, "payload.json");
	await writeFile(file, manual);
	const words = ["--url", server.url, "--sender", "jstest"];
	const stored = await runScript("put", ["by-hand", file, ...words], env);
	assert.is(stored.code, 0, stored.stderr);
	assert.is((JSON.parse(stored.stdout) as { smallkey: string }).smallkey, "by-hand");
	const { stdout: headers } = await runScript("sign", ["signed", file, ...words], env);
	await writeFile(join(folder, "headers"), headers);
	const sent = ["-T", file, "-H", `@${join(folder, "headers")}`, `${server.url}/register/signed`];
	const curl = await run("curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}", ...sent]);
	assert.is(curl.stdout, "201");
	assert.is((await runScript("remove", ["by-hand", ...words], env)).code, 0);
	const again = await runScript("remove", ["by-hand", ...words], env);
	assert.is(again.code, 1);
	assert.match(again.stderr, /404 .*\nthe service: smallkey: by-hand is not registered/);
	await writeFile(file, feature.replace("https", "ftp"));
	const bad = await runScript("put", ["bad", file, ...words], env);
	assert.is(bad.code, 1);
	assert.match(bad.stderr, /\/en\/service_url: must be an http or https address/);
	const wrong = await runScript("put", ["bad", file, ...words], { SENDER_SECRET: "wrong" });
	assert.match(wrong.stderr, /401 /);
	assert.is((await runScript("put", ["one"], env)).code, 2);
});

test("a first start creates a sender with a random secret in a file of mode 0600, and the printed command works", async () => {
	await using folder = await temporaryFolder();
	const data = join(folder.path, "it's data");
	await mkdir(data);
	await using server = await ServerProcess.start({ DATA_DIR: data });
	const path = join(data, "senders.json");
	const text = await readFile(path, "utf8");
	assert.is((await stat(path)).mode & 0o777, 0o600);
	const [[id, made] = ["", ""]] = Object.entries(JSON.parse(text) as Record<string, string>);
	assert.match(made, /^[A-Za-z0-9_-]{43}$/);
	assert.match(server.output, `${path}, created now with the sender ${id}`);
	assert.not.match(server.output, made);
	const command = server.output.split("\n").find((line) => line.includes("npx fragment-publisher put")) ?? "";
	const { stdout } = await run("bash", ["-c", command], { cwd: root, env: cleanEnvironment({}) });
	assert.match(stdout, '"id":"rcs.my-layer.en"');
	assert.is((await runScript("sender", ["add", "second", "--all-layers"], { DATA_DIR: data })).code, 0);
	const both = JSON.parse(await readFile(path, "utf8")) as Record<string, string>;
	assert.equal(Object.keys(both), [id, "second"]);
	assert.is(both[id], made);
	assert.is((await stat(path)).mode & 0o777, 0o600);
});

test.run();
