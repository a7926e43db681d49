import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import * as assert from "uvu/assert";
import { sign } from "../../../api/signature.ts";
import { canonicalText } from "../../../registry/registration.ts";
import { indexVersion } from "../../../site/data/entries.ts";
import { blobId } from "../../../store/hashes.ts";
import { manual, noon } from "../../helpers/local.ts";
import { exits, prints, runScript, warns } from "../../helpers/process.ts";
import { answering, freshSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";

type Answer = { status: number; text: string; etag?: string };

interface Scene {
	folder: string;
	file: string;
	url: string;
	respond: (request: IncomingMessage, response: ServerResponse) => unknown;
	requests: { request: IncomingMessage; body: string }[];
	answer: Answer | ((request: IncomingMessage) => Answer);
}

const test = freshSuite<Scene>("npx fragment-publisher put, remove and sign", async (use, scene) => {
	const folder = use(await temporaryFolder()).path;
	writeFiles(folder, { "layer.json": manual });
	const server = use(await answering((request, response) => void scene.respond(request, response)));
	return {
		folder,
		file: join(folder, "layer.json"),
		url: `${server.origin}/base`,
		requests: [],
		answer: { status: 201, text: '{"smallkey":"my-layer"}' },
		respond: async (request, response) => {
			scene.requests.push({ request, body: await textOf(request) });
			const { answer } = scene;
			const { status, text, etag } = typeof answer === "function" ? answer(request) : answer;
			response.writeHead(status, { ...(etag && { ETag: etag }) }).end(text);
		},
	};
});

const secret = "a secret: -x $é";
const timestamp = new Date(noon).toISOString();
const now = () => new Date(noon);

function run({ url }: Scene, name: string, words: string[], env?: Record<string, string>, io = {}) {
	const all = [...words, "--url", url, "--sender", "jstest"];
	return runScript(name, all, env ?? { SENDER_SECRET: secret }, { now, ...io });
}

const put = (scene: Scene, ...more: string[]) => run(scene, "put", ["my-layer", scene.file, ...more]);
const remove = (scene: Scene, ...words: string[]) => run(scene, "remove", words);
const register = (scene: Scene, ...words: string[]) => run(scene, "register", words);

function signatureOf(text: string, path = "/base/register/my-layer", time = timestamp) {
	return sign(secret, { path, sender: "jstest", timestamp: time, body: new TextEncoder().encode(text) });
}

function writeBatch(folder: string, keys: readonly string[]) {
	const batch = join(folder, "batch");
	mkdirSync(batch, { recursive: true });
	writeFiles(batch, Object.fromEntries(keys.map((key) => [`${key}.json`, manual])));
	return batch;
}

function sent({ requests }: Scene) {
	return requests.map(({ request }) => `${request.method} ${request.url}`).sort();
}

test("put sends the file as it is, remove an empty DELETE, signed with the base path", async (scene) => {
	const sending = await put(scene);
	assert.equal([sending.code, sending.stdout, sending.stderr], [0, '{\n  "smallkey": "my-layer"\n}\n', ""]);
	scene.answer = { status: 204, text: "" };
	await prints(remove(scene, "my-layer"), 0, /^204 my-layer\n$/);
	assert.equal(sent(scene), ["DELETE /base/register/my-layer", "PUT /base/register/my-layer"]);
	for (const { request, body } of scene.requests) {
		assert.is(body, request.method === "PUT" ? manual : "");
		const { authorization, timestamp: time, sender } = request.headers;
		assert.equal([authorization, time, sender], [await signatureOf(body), timestamp, "jstest"]);
	}
	await remove(scene, "a+b=c");
	const escaped = "/base/register/a+b=c";
	const last = scene.requests.at(-1)?.request;
	assert.equal([last?.url, last?.headers.authorization], [escaped, await signatureOf("", escaped)]);
});

test("register --url sends a folder, each layer signed, and lists what became of them", async (scene) => {
	const batch = writeBatch(scene.folder, ["one", "two", "three", "four", "five"]);
	for (const name of [".DS_Store", "._wells.json", "Thumbs.db"]) await writeFile(join(batch, name), "\0");
	scene.answer = ({ url = "" }) => {
		if (url.endsWith("/four")) return { status: 403, text: '{"errors":["not yours"]}' };
		if (url.endsWith("/five"))
			return { status: 201, text: '{"changed":false,"branch":"register/five","published":false}' };
		return { status: 201, text: JSON.stringify({ changed: url.endsWith("/two") }) };
	};
	const { stdout, stderr } = await exits(register(scene, batch), 1);
	assert.equal(stdout.split("\n"), [
		...["1 changed: two", "2 unchanged", "1 waiting: five", "1 refused: four", ""],
	]);
	assert.match(stderr, `403 from ${scene.url}/register/four\nthe service: not yours\n`);
	assert.is(sent(scene).length, 5);
	for (const { request, body } of scene.requests)
		assert.is(request.headers.authorization, await signatureOf(body, request.url));
});

test("remove takes several layers, and a file of them", async (scene) => {
	scene.answer = ({ url = "" }) => {
		if (url.endsWith("/one")) return { status: 202, text: '{"changed":true,"branch":"register/one"}' };
		if (url.endsWith("/three")) return { status: 404, text: '{"errors":["not there"]}' };
		return { status: 204, text: "" };
	};
	const { stdout, stderr } = await exits(remove(scene, "one", "four", "two", "three", "one"), 1);
	assert.is(stdout, "2 removed: four two\n1 waiting: one\n1 refused: three\n");
	assert.is(stderr, `404 from ${scene.url}/register/three\nthe service: not there\n`);
	const removals = ["four", "one", "three", "two"].map((key) => `DELETE /base/register/${key}`);
	assert.equal(sent(scene), removals);
	await exits(remove(scene), 2);
	scene.requests = [];
	const file = join(scene.folder, "keys.txt");
	await writeFile(file, Buffer.from("\ufefftwo\r\nfour\r\n", "utf16le"));
	await warns(remove(scene, "--file", file), 0, "keys.txt: is in UTF-16, and read so");
	assert.equal(sent(scene), ["DELETE /base/register/four", "DELETE /base/register/two"]);
	scene.requests = [];
	await writeFile(file, "two b/c");
	await warns(remove(scene, "one", "--file", file), 2, "keys.txt: a smallkey must be 1 to 64 of");
	assert.equal(sent(scene), []);
});

const removal = ["--remove-others", "--owned", "mine-*"];

/** A service whose catalogue has chunks of smallkeys. */
const catalogueOf =
	(...chunks: (string[] | null)[]) =>
	({ method, url = "" }: IncomingMessage): Answer => {
		if (method === "PUT") return { status: 201, text: '{"changed":true}' };
		if (method === "DELETE") return { status: 204, text: "" };
		const names = chunks.map((keys, at) => keys && `index/chunks/0${at}-a.json`);
		const entries = chunks[names.indexOf(url.slice("/base/".length))]?.map((smallkey) => ({ smallkey }));
		const part = url === "/base/index/index.json" ? { commit: "abc", chunks: names } : { entries };
		return { status: 200, text: JSON.stringify({ version: indexVersion, ...part }) };
	};

const answerWithCatalogue = catalogueOf(["mine-1", "mine-2", "other-1"], null, [
	"mine-3",
	"mine-../x",
	"Mine-4",
]);

test("register --remove-others removes what the sender owns and the folder lacks, after a yes", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-2", "other-2"]);
	const removed = () => sent(scene).filter((line) => line.startsWith("DELETE "));
	scene.answer = answerWithCatalogue;
	const words = [batch, ...removal, "x-?"];
	const age = `The layers of ${scene.url} are those of its catalogue at abc; it may lack later changes`;
	const list = `To be removed from ${scene.url}, since the folder does not have them: mine-1 mine-3`;
	for (const [answer, end] of [
		[null, "nothing is removed: without a terminal this needs --yes"],
		["no", "nothing is removed"],
	] as const) {
		const { code, stderr } = await run(scene, "register", words, undefined, { ask: async () => answer });
		assert.equal([code, stderr], [1, `${age}\n${list}\n${end}\n`]);
	}
	assert.equal(removed(), []);
	const all = run(scene, "register", words, undefined, { ask: async () => "yes" });
	await prints(all, 0, "\n2 removed: mine-1 mine-3\n");
	assert.equal(removed(), ["DELETE /base/register/mine-1", "DELETE /base/register/mine-3"]);
});

test("register --remove-others removes nothing after a refusal, or without the catalogue", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-1"]);
	const words = [batch, ...removal, "--yes"];
	scene.answer = (request) =>
		request.method === "PUT" ? { status: 400, text: '{"errors":["no"]}' } : answerWithCatalogue(request);
	await exits(register(scene, ...words), 1);
	scene.answer = (request) =>
		request.url?.endsWith("/02-a.json") ? { status: 503, text: "" } : answerWithCatalogue(request);
	const reason = "/02-a.json: answers 503; --remove-others needs the service's";
	await warns(register(scene, ...words), 2, reason);
	for (const wrong of ["--remove-others", "--owned=mine-*"])
		await warns(register(scene, batch, wrong), 2, "needs --owned");
	assert.not.match(sent(scene).join(), "DELETE");
});

test("register --remove-others removes few layers only, or as many as --remove-at-most says", async (scene) => {
	const keysOf = (count: number) => Array.from({ length: count }, (_, at) => `mine-${at}`);
	const empty = writeBatch(scene.folder, []);
	const words = [...removal, "--yes"];
	for (const [count, missing, max] of [
		[20, 3, 2],
		[3, 3, 2],
		[200, 11, 10],
	] as const) {
		scene.answer = catalogueOf(keysOf(count));
		const folder = writeBatch(join(scene.folder, `${count}`), keysOf(count - missing));
		const allowed = `at most ${max} may be removed: --remove-at-most ${missing} allows it. Nothing was sent`;
		const reason = `${missing} of the ${count} layers that match mine-* are not in the folder, and ${allowed}`;
		await warns(register(scene, folder, ...words), 1, reason);
		const low = [...words, "--remove-at-most", String(missing - 1)];
		await warns(register(scene, folder, ...low), 1, `at most ${missing - 1} may be removed`);
	}
	scene.answer = catalogueOf(keysOf(3));
	const listed = await prints(register(scene, empty, ...words, "--dry-run"), 1, "3 removed: mine-0 ");
	assert.match(listed.stderr, /has no registrations(?:.*\n)+.*at most 2 may/);
	assert.not.match(sent(scene).join(), /PUT|DELETE/);
	const enough = [empty, ...words, "--remove-at-most", "3"];
	await prints(run(scene, "register", enough), 0, "3 removed: mine-0 mine-1 mine-2");
});

test("register --partial sends the right files, names the others, and removes nothing", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-1", "mine-5"]);
	await writeFile(join(batch, "bad.json"), "{}");
	scene.answer = answerWithCatalogue;
	const words = [batch, "--partial", ...removal, "--yes"];
	const { stdout, stderr } = await exits(register(scene, ...words), 1);
	assert.is(stdout, "2 changed: mine-1 mine-5\n");
	assert.match(stderr, /bad\.json: \/version: is missing[\s\S]*\nnothing is removed/);
	const writes = sent(scene).filter((line) => !line.startsWith("GET "));
	assert.equal(writes, ["PUT /base/register/mine-1", "PUT /base/register/mine-5"]);
});

test("register --dry-run lists what would change, and sends nothing", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-1", "mine-2", "new"]);
	const stored = `"${await blobId(canonicalText(JSON.parse(manual)))}"`;
	scene.answer = (request) => {
		const { url = "" } = request;
		if (url.endsWith("/status/new")) return { status: 404, text: '{"errors":["smallkey: is not there"]}' };
		if (!url.includes("/status/")) return answerWithCatalogue(request);
		return { status: 200, text: "{}", etag: url.endsWith("/mine-1") ? stored : `"${"0".repeat(40)}"` };
	};
	const words = [batch, "--dry-run", ...removal];
	const text = "1 added: new\n1 changed: mine-2\n1 unchanged\n1 removed: mine-3\n";
	await prints(run(scene, "register", words, {}), 0, text);
	scene.answer = { status: 404, text: '{"errors":["status: the layers are elsewhere"]}' };
	await warns(run(scene, "register", [batch, "--dry-run"], {}), 2, "404: status: the layers are elsewhere");
	assert.not.match(sent(scene).join(), /PUT|DELETE/);
});

test("a request with a refused time is signed again with the service's time", async (scene) => {
	let aheadMs = 600_000;
	scene.respond = async (request, response) => {
		scene.requests.push({ request, body: await textOf(request) });
		const serviceMs = noon + aheadMs;
		response.setHeader("Date", new Date(serviceMs).toUTCString());
		const isTimely = Math.abs(Date.parse(String(request.headers.timestamp)) - serviceMs) < 120_000;
		if (isTimely) response.writeHead(201).end('{"smallkey":"my-layer"}');
		else response.writeHead(401).end('{"errors":["TimeStamp: must be another"]}');
	};
	const { stderr } = await exits(put(scene), 0);
	assert.match(stderr, "signed again with the service's time");
	const times = scene.requests.map(({ request }) => request.headers.timestamp);
	assert.equal(times, [timestamp, new Date(noon + aheadMs).toISOString()]);
	const batch = await exits(run(scene, "register", [writeBatch(scene.folder, ["a", "b", "c"])]), 0);
	assert.match(batch.stdout, "3 changed");
	aheadMs = 90_000_000;
	scene.requests = [];
	await warns(put(scene), 1, "TimeStamp: must be another");
	assert.is(scene.requests.length, 1, "not for a time that is days away");
});

test("register removes nothing after an interruption", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-1", "mine-3"]);
	const ending = new AbortController();
	scene.answer = (request) => {
		if (request.url?.endsWith("/mine-3")) ending.abort();
		return answerWithCatalogue(request);
	};
	const words = [batch, ...removal, "--yes"];
	const ended = await run(scene, "register", words, undefined, { interrupted: () => ending.signal });
	assert.match(ended.stderr, "nothing is removed");
	assert.not.match(sent(scene).join(), "DELETE");
});

test("register --review-name sends the header Review with each change", async (scene) => {
	const batch = writeBatch(scene.folder, ["one", "two"]);
	await exits(register(scene, batch, "--review-name", "spring.2026"), 0);
	for (const { request } of scene.requests) assert.is(request.headers.review, "spring.2026");
	await warns(register(scene, batch, "--review-name", ".a"), 2, "It must be 1 to 64 of");
	assert.is(scene.requests.length, 2);
});

test("nothing is sent where a file is wrong or missing, or the words do not fit", async (scene) => {
	const batch = writeBatch(scene.folder, ["good"]);
	await writeFile(join(batch, "bad.json"), "{}");
	await warns(register(scene, batch), 1, ["bad.json: /version: is missing", /nothing was sent/]);
	await warns(run(scene, "put", ["my-layer", scene.folder]), 2, `${scene.folder}: is a folder`);
	await warns(
		run(scene, "put", ["my-layer", join(scene.folder, "none.json")]),
		2,
		/none\.json: does not exist\n$/,
	);
	const nowhere = put({ ...scene, url: "ftp://x" });
	await warns(nowhere, 2, "'ftp://x' is invalid. It must be an http or https address.");
	assert.equal(sent(scene), []);
});

test("a refusal is printed with exit code 1, and an answer that cannot serve with 2", async (scene) => {
	for (const [status, text, code, lines] of [
		[400, '{"errors":["/en: is missing","no"]}', 1, "the service: /en: is missing\nthe service: no\n"],
		[401, "not JSON", 1, "the service: not JSON\nsigned with the secret of jstest in SENDER_SECRET\n"],
		[404, "", 1, ""],
		[429, '{"errors":["too many"]}', 2, "the service: too many\n"],
		[503, '{"errors":["later"]}', 2, "the service: later\n"],
	] as const) {
		scene.answer = { status, text };
		const { stdout, stderr } = await exits(put(scene), code);
		assert.equal([stdout, stderr], ["", `${status} from ${scene.url}/register/my-layer\n${lines}`]);
	}
	const closed = await answering();
	await closed[Symbol.asyncDispose]();
	const { stderr } = await exits(put({ ...scene, url: closed.origin }), 2);
	const { origin } = closed;
	assert.is(stderr, `${origin}/register/my-layer: connect ECONNREFUSED ${new URL(origin).host}\n`);
});

test("put and remove --if-match send the ETag, which a receipt shows", async (scene) => {
	const id = "0123456789abcdef0123456789abcdef01234567";
	scene.respond = (request, response) => {
		scene.requests.push({ request, body: "" });
		response.writeHead(201, { ETag: `"${id}"` }).end('{"smallkey":"my-layer"}');
	};
	await prints(put(scene), 0, `{\n  "smallkey": "my-layer",\n  "etag": "\\"${id}\\""\n}\n`);
	for (const etag of [id, `"${id}"`, `W/"${id}"`, "*"]) await exits(put(scene, "--if-match", etag), 0);
	await exits(remove(scene, "my-layer", "--if-match", id), 0);
	const sentTags = scene.requests.map(({ request }) => request.headers["if-match"]);
	assert.equal(sentTags, [undefined, `"${id}"`, `"${id}"`, `"${id}"`, "*", `"${id}"`]);
	await warns(put(scene, "--if-match", "abc"), 2, "It must be an ETag, or *.");
	await warns(remove(scene, "a", "b", "--if-match", id), 2, "--if-match: with one smallkey");
});

test("control characters and commands of a CI runner in an answer are spelled out", async (scene) => {
	const hostile = "\u001b]0;title\u0007\u009b2J\u202e\r";
	const shown = "\\u001b]0;title\\u0007\\u009b2J\\u202e\\u000d";
	scene.answer = { status: 201, text: JSON.stringify({ smallkey: "\u009b2J\u202e", key: "two\nlines" }) };
	const receipt = await put(scene);
	assert.is(receipt.stdout, '{\n  "smallkey": "\\u009b2J\\u202e",\n  "key": "two\\nlines"\n}\n');
	const command = "::error::merge this";
	scene.answer = { status: 400, text: JSON.stringify({ errors: [hostile, `x\n${command}`] }) };
	const { stderr } = await warns(put(scene), 1, `the service: ${shown}\n`);
	assert.not.match(stderr, /^\s*::/m);
	scene.answer = { status: 502, text: `<html>${hostile}\nBad gateway` };
	const lines = `the service: <html>${shown}\nthe service: Bad gateway\n`;
	await warns(remove(scene, "my-layer"), 2, lines);
	scene.answer = { status: 200, text: hostile };
	await warns(put(scene), 2, `${scene.url}/register/my-layer: its answer is not a receipt\n`);
});

test("an answer that does not end within two minutes ends with an error", async (scene) => {
	const { timeout } = AbortSignal;
	const limits: AbortController[] = [];
	AbortSignal.timeout = (ms) => {
		assert.is(ms, 120_000);
		const controller = new AbortController();
		limits.push(controller);
		return controller.signal;
	};
	scene.respond = (_request, response) => {
		response.write("{");
		for (const limit of limits.splice(0)) limit.abort();
	};
	const reason = "/register/my-layer: did not answer completely within 120 s\n";
	try {
		await warns(put(scene), 2, reason);
		await warns(remove(scene, "my-layer"), 2, reason);
	} finally {
		AbortSignal.timeout = timeout;
	}
});

test("sign prints the headers, and --explain how they are made, without the secret", async (scene) => {
	const headers = `Authorization: ${await signatureOf(manual)}\nTimeStamp: ${timestamp}\nSender: jstest\n`;
	assert.is((await run(scene, "sign", ["my-layer", scene.file])).stdout, headers);
	const lines = [
		`‹/base/register/my-layer›‹jstest›‹${timestamp}›‹${manual}›`,
		`with the body of ${manual.length} bytes:`,
		"  PUT /base/register/my-layer HTTP/1.1\n",
		...headers.trim().split("\n"),
	];
	const { stdout } = await prints(run(scene, "sign", ["my-layer", scene.file, "--explain"]), 0, lines);
	assert.not.match(stdout, secret);
	const removal = run(scene, "sign", ["my-layer", "--explain"]);
	await prints(removal, 0, "  DELETE /base/register/my-layer HTTP/1.1\n", `‹${timestamp}›‹›`);
	assert.equal(sent(scene), []);
});

test("the secret comes from SENDERS, the senders file or a person", async (scene) => {
	const header = `Authorization: ${await signatureOf("")}\n`;
	const words = ["my-layer", "--url", scene.url];
	const senders = JSON.stringify({ jstest: secret });
	const { folder } = scene;
	await prints(runScript("sign", words, { SENDERS: senders }, { now }), 0, header);
	await writeFile(join(folder, "senders.json"), senders);
	await prints(runScript("sign", words, { DATA_DIR: folder }, { now }), 0, header);
	await writeFile(join(folder, "senders.json"), '{"other":"other secret"}');
	const questions: unknown[] = [];
	const ask = async (...question: unknown[]) => {
		questions.push(question);
		return secret;
	};
	await prints(run(scene, "sign", ["my-layer"], { DATA_DIR: folder }, { ask }), 0, header);
	assert.equal(questions, [["Secret of jstest: ", { isHidden: true }]]);
	for (const [env, more, reason] of [
		[{ DATA_DIR: folder }, ["--sender", "jstest"], "has no sender jstest; set SENDER_SECRET, or DATA"],
		[{ DATA_DIR: join(folder, "none") }, [], "senders.json: is not there; set SENDER_SECRET"],
		[{ SENDER_SECRET: secret }, [], "--sender: is needed with SENDER_SECRET"],
		[{ SENDER_SECRET: `${secret}\n` }, ["--sender", "jstest"], "SENDER_SECRET: ends with a line break"],
	] as const)
		await warns(runScript("sign", [...words, ...more], env, { now }), 2, reason);
	assert.is(await readFile(join(folder, "senders.json"), "utf8"), '{"other":"other secret"}');
});

test.run();
