import { readFile, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import * as assert from "uvu/assert";
import { sign } from "../../../api/senders.ts";
import { unpackDraft } from "../../../registry/draft.ts";
import { indexVersion } from "../../../registry/entries.ts";
import { exchange } from "../../../scripts/publish/request.ts";
import { feature, manual, noon } from "../../helpers/local.ts";
import { type Ended, exits, prints, runScript, warns } from "../../helpers/process.ts";
import { answering, freshSuite, temporaryFolder, writeFiles } from "../../helpers/world.ts";

interface Asked {
	request: IncomingMessage;
	body: string;
}

interface Scene {
	folder: string;
	file: string;
	url: string;
	/** Answers a request, or leaves it unanswered. */
	respond: (request: IncomingMessage, response: ServerResponse) => unknown;
	/** Requests that arrived, with their bodies. */
	asked: Asked[];
	/** What the next ones are answered. */
	answer: { status: number; text: string };
	/** What a request is answered instead. */
	answerTo: ((request: IncomingMessage) => Scene["answer"]) | undefined;
}

const test = freshSuite<Scene>("npx fragment-publisher put, remove and sign", async (use, scene) => {
	const folder = use(await temporaryFolder()).path;
	writeFiles(folder, { "layer.json": manual });
	const server = use(await answering((request, response) => void scene.respond(request, response)));
	const respond: Scene["respond"] = async (request, response) => {
		scene.asked.push({ request, body: await textOf(request) });
		const { status, text } = scene.answerTo?.(request) ?? scene.answer;
		response.writeHead(status).end(text);
	};
	const answer = { status: 201, text: '{"smallkey":"my-layer"}' };
	const file = join(folder, "layer.json");
	return { folder, file, url: `${server.origin}/base`, respond, asked: [], answer, answerTo: undefined };
});

const secret = "a secret: -x $é";

function run({ url }: Scene, name: string, words: string[], env?: Record<string, string>): Promise<Ended> {
	const all = [...words, "--url", url, "--sender", "jstest"];
	return runScript(name, all, env ?? { SENDER_SECRET: secret }, { now: () => new Date(noon) });
}

async function signatureOf(body: string): Promise<string> {
	const timestamp = new Date(noon).toISOString();
	const bytes = new TextEncoder().encode(body);
	return sign(secret, { path: "/base/register/my-layer", sender: "jstest", timestamp, body: bytes });
}

/** Writes a folder of registrations. */
function writeBatch(folder: string, keys: readonly string[]): string {
	writeFiles(folder, Object.fromEntries(keys.map((key) => [`batch/${key}.json`, manual])));
	return join(folder, "batch");
}

test("put sends the file as it is, signed, below the base path", async (scene) => {
	const { code, stdout, stderr } = await run(scene, "put", ["my-layer", scene.file]);
	assert.equal([code, stdout, stderr], [0, '{\n  "smallkey": "my-layer"\n}\n', ""]);
	assert.is(scene.asked.length, 1);
	const { request, body } = scene.asked[0] as Asked;
	assert.equal([request.method, request.url, body], ["PUT", "/base/register/my-layer", manual]);
	assert.is(request.headers.authorization, await signatureOf(manual));
	assert.is(request.headers.timestamp, "2026-03-04T12:00:00.000Z");
	assert.is(request.headers.sender, "jstest");
});

test("register --url sends a folder, each layer signed; a refusal names it, and the rest is sent", async (scene) => {
	const batch = writeBatch(scene.folder, ["one", "two", "three"]);
	const sent = await run(scene, "register", [batch]);
	const summary = `3 changed, 0 as they were, of 3 layers for ${scene.url}\nchanged: one three two\n`;
	assert.equal([sent.code, sent.stdout, sent.stderr], [0, summary, ""]);
	const paths = () => scene.asked.map(({ request }) => `${request.method} ${request.url}`).sort();
	const expected = ["one", "three", "two"].map((key) => `PUT /base/register/${key}`);
	assert.equal(paths(), expected);
	for (const { request, body } of scene.asked) {
		const timestamp = new Date(noon).toISOString();
		const message = { path: request.url as string, sender: "jstest", timestamp, body: Buffer.from(body) };
		assert.is(request.headers.authorization, await sign(secret, message));
	}
	scene.asked.length = 0;
	scene.answer = { status: 403, text: '{"errors":["not yours"]}' };
	const refused = await run(scene, "register", [batch]);
	const none = `0 changed, 0 as they were, 3 refused, of 3 layers for ${scene.url}\n`;
	assert.equal([refused.code, refused.stdout], [1, none]);
	assert.match(refused.stderr, `403 from ${scene.url}/register/three\nthe service: not yours\n`);
	assert.equal(paths(), expected);
});

test("register --url lists the layers that changed, and --json lists all of them", async (scene) => {
	const batch = writeBatch(scene.folder, ["one", "two", "three", "four", "five"]);
	scene.answerTo = ({ url = "" }) => {
		if (url.endsWith("/four")) return { status: 403, text: '{"errors":["not yours"]}' };
		if (url.endsWith("/five"))
			return { status: 201, text: '{"changed":false,"branch":"register/five","published":false}' };
		return { status: 201, text: JSON.stringify({ changed: url.endsWith("/two") }) };
	};
	const { stdout } = await exits(run(scene, "register", [batch]), 1);
	assert.equal(stdout.split("\n"), [
		`1 changed, 2 as they were, 1 waiting for a reviewer, 1 refused, of 5 layers for ${scene.url}`,
		...["changed: two", "waiting for a reviewer: five", ""],
	]);
	const asJson = await run(scene, "register", [batch, "--json"]);
	assert.equal(JSON.parse(asJson.stdout), {
		changed: ["two"],
		unchanged: ["one", "three"],
		waiting: ["five"],
		refused: ["four"],
		unsent: [],
	});
});

test("remove takes several layers, and a file of them", async (scene) => {
	const file = join(scene.folder, "keys.txt");
	await writeFile(file, "two, three\none\n");
	scene.answerTo = ({ url = "" }) => {
		if (url.endsWith("/one")) return { status: 202, text: '{"changed":true,"branch":"register/one"}' };
		return url.endsWith("/three")
			? { status: 404, text: '{"errors":["not there"]}' }
			: { status: 204, text: "" };
	};
	const { stdout, stderr } = await exits(run(scene, "remove", ["one", "four", "--file", file]), 1);
	assert.equal(stdout.split("\n"), [
		`2 layers removed from ${scene.url}, 1 waiting for a reviewer, 1 refused`,
		...["removed: four two", "waiting for a reviewer: one", ""],
	]);
	assert.is(stderr, `404 from ${scene.url}/register/three\nthe service: not there\n`);
	const sent = scene.asked.map(({ request, body }) => `${request.method} ${request.url} ${body}`).sort();
	const expected = ["four", "one", "three", "two"].map((key) => `DELETE /base/register/${key} `);
	assert.equal(sent, expected);
	const asJson = await run(scene, "remove", ["one", "two", "three", "--json"]);
	assert.equal(JSON.parse(asJson.stdout), {
		removed: ["two"],
		waiting: ["one"],
		refused: ["three"],
		unsent: [],
	});
	scene.asked.length = 0;
	await writeFile(file, "two b/c");
	const wrong = await run(scene, "remove", ["one", "--file", file]);
	assert.match(wrong.stderr, "keys.txt: a smallkey must be 1 to 64 of");
	await exits(run(scene, "remove", []), 2);
	assert.equal([wrong.code, scene.asked], [2, []]);
});

/** Answers like a service with a catalogue of six layers. */
function answerWithCatalogue({ method, url = "" }: IncomingMessage): Scene["answer"] {
	if (method === "PUT") return { status: 201, text: '{"changed":true}' };
	if (method === "DELETE") return { status: 204, text: "" };
	const chunks = ["index/chunks/00-a.json", null, "index/chunks/02-b.json"];
	const keys = [["mine-1", "mine-2", "other-1"], [], ["mine-3", "mine-../x", "Mine-4"]];
	const entries = keys[chunks.indexOf(url.slice("/base/".length))]?.map((smallkey) => ({ smallkey }));
	if (url === "/base/index/index.json")
		return { status: 200, text: JSON.stringify({ version: indexVersion, chunks }) };
	return entries
		? { status: 200, text: JSON.stringify({ version: indexVersion, entries }) }
		: { status: 404, text: "" };
}

test("register --remove-others removes what the sender owns and the folder lacks, after a yes", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-2", "other-2"]);
	const removed = () =>
		scene.asked.filter(({ request }) => request.method === "DELETE").map(({ request }) => request.url);
	scene.answerTo = answerWithCatalogue;
	const words = [batch, "--remove-others", "--owned", "mine-*", "x-?"];
	const questions: string[] = [];
	const answering = (answer: string | null) =>
		runScript(
			"register",
			[...words, "--url", scene.url, "--sender", "jstest"],
			{ SENDER_SECRET: secret },
			{
				now: () => new Date(noon),
				ask: async (question) => {
					questions.push(question);
					return answer;
				},
			},
		);
	const list = `To be removed from ${scene.url}, since the folder does not have them: mine-1 mine-3`;
	for (const [answer, end] of [
		[null, "nothing is removed: without a terminal this needs --yes"],
		["no", "nothing is removed"],
	] as const) {
		const { code, stderr } = await answering(answer);
		assert.equal([code, stderr], [1, `${list}\n${end}\n`]);
	}
	assert.equal(questions, Array(2).fill("Remove 2 layers? Type yes: "));
	assert.equal(removed(), []);
	await prints(answering("yes"), 0, `2 layers removed from ${scene.url}\nremoved: mine-1 mine-3\n`);
	assert.equal(removed().sort(), ["/base/register/mine-1", "/base/register/mine-3"]);
	const asJson = await run(scene, "register", [...words, "--yes", "--json"]);
	assert.equal(JSON.parse(asJson.stdout).others.removed, ["mine-1", "mine-3"]);
});

test("register --remove-others removes nothing if a layer was refused, or the catalogue is not there", async (scene) => {
	const batch = writeBatch(scene.folder, ["mine-1"]);
	const words = [batch, "--remove-others", "--owned", "mine-*", "--yes"];
	scene.answerTo = (request) =>
		request.method === "PUT" ? { status: 400, text: '{"errors":["no"]}' } : answerWithCatalogue(request);
	await exits(run(scene, "register", words), 1);
	scene.answerTo = (request) =>
		request.url?.endsWith("/02-b.json") ? { status: 503, text: "" } : answerWithCatalogue(request);
	const { stderr } = await exits(run(scene, "register", words), 2);
	assert.match(
		stderr,
		"/02-b.json: answers 503; --remove-others needs the service's catalogue, which SITE=on builds after a start",
	);
	const sent = scene.asked.length;
	for (const wrong of [
		[batch, "--remove-others"],
		[batch, "--owned", "mine-*"],
	])
		assert.is((await run(scene, "register", wrong)).code, 2);
	assert.is(scene.asked.length, sent, "nothing is sent");
	assert.not(scene.asked.some(({ request }) => request.method === "DELETE"));
});

test("register --url sends nothing where a file is wrong, or with --review", async (scene) => {
	const batch = writeBatch(scene.folder, ["good"]);
	assert.match((await run(scene, "register", [batch, "--review"])).stderr, "--review: with --url");
	await writeFile(join(batch, "bad.json"), "{}");
	await warns(run(scene, "register", [batch]), 1, "bad.json: /version: is missing");
	assert.is(scene.asked.length, 0);
});

test("put refuses a folder by its name, and sends nothing", async (scene) => {
	const { code, stderr } = await run(scene, "put", ["my-layer", scene.folder]);
	assert.equal([code, stderr], [2, "the named file: is a folder, and a file is needed (EISDIR, read)\n"]);
	assert.is(scene.asked.length, 0);
});

test("remove sends an empty DELETE", async (scene) => {
	scene.answer = { status: 204, text: "" };
	const { code, stdout } = await run(scene, "remove", ["my-layer"]);
	assert.equal([code, stdout], [0, "204 my-layer\n"]);
	assert.is(scene.asked.length, 1);
	const { request, body } = scene.asked[0] as Asked;
	assert.equal([request.method, request.url, body], ["DELETE", "/base/register/my-layer", ""]);
	assert.is(request.headers.authorization, await signatureOf(""));
});

for (const [status, text, code, said] of [
	[
		400,
		'{"errors":["/en: is missing","/fr: is missing"]}',
		1,
		/^400 from .*\nthe service: \/en: is missing\nthe service: \/fr: is missing\n$/,
	],
	[401, "not JSON", 1, /^401 from .*\nthe service: not JSON\n$/],
	[404, "", 1, /^404 from .*\n$/],
	[429, '{"errors":["too many"]}', 2, /too many/],
	[503, '{"errors":["later"]}', 2, /later/],
] as const) {
	test(`an answer of ${status} is printed, and the exit code is ${code}`, async (scene) => {
		scene.answer = { status, text };
		const ended = await warns(run(scene, "put", ["my-layer", scene.file]), code, said);
		assert.is(ended.stdout, "");
	});
}

test("put --wait does not wait after a refusal or a dry run", async (scene) => {
	scene.answer = { status: 400, text: "" };
	for (const [more, code] of [
		[[], 1],
		[["--dry-run"], 0],
	] as const)
		assert.is((await run(scene, "put", ["my-layer", scene.file, "--wait", "5", ...more])).code, code);
	const found = scene.asked.map(({ request }) => request.method);
	assert.equal(found, ["PUT"]);
});

test("with PUBLIC_URL a refusal names the page on which the registration can be corrected", async (scene) => {
	scene.answer = { status: 400, text: '{"errors":["/en: is missing"]}' };
	const env = { SENDER_SECRET: secret, PUBLIC_URL: "https://layers.example/base/" };
	const words = ["my-layer", scene.file];
	for (const more of [[], ["--dry-run"]]) {
		await writeFile(scene.file, manual.replace("1.0.0", "0.9.0"));
		const { stderr } = await exits(run(scene, "put", [...words, ...more], env), 1);
		const link = /^Try it as a draft: https:\/\/layers\.example\/base\/\?page=draft#draft=(\S+)$/m.exec(
			stderr,
		)?.[1];
		const draft = await unpackDraft(link ?? "");
		assert.equal(draft, { smallkey: "my-layer", text: manual.replace("1.0.0", "0.9.0") });
	}
	scene.answer = { status: 201, text: "{}" };
	assert.is((await run(scene, "put", words, env)).stderr, "");
	scene.answer = { status: 503, text: "" };
	assert.not.match((await run(scene, "put", words, env)).stderr, "draft");
	scene.answer = { status: 400, text: '{"errors":["/en: is missing"]}' };
	const { stderr } = await exits(run(scene, "put", words, { ...env, PUBLIC_URL: "layers.example" }), 2);
	assert.match(stderr, /\/en: is missing.*^PUBLIC_URL: must be an http or https address without \? and #/ms);
});

test("no answer at all names the address", async (scene) => {
	const closed = await answering();
	await closed[Symbol.asyncDispose]();
	scene.url = closed.origin;
	const { stderr } = await exits(run(scene, "put", ["my-layer", scene.file]), 2);
	assert.is(stderr, `${scene.url}/register/my-layer: refuses the connection\n`);
});

test("what a server answers is printed with its control characters spelled out, whatever it is", async (scene) => {
	const hostile = "\u001b]0;title\u0007\u009b2J\u202e\r";
	const shown = "\\u001b]0;title\\u0007\\u009b2J\\u202e\\u000d";
	const words = ["my-layer", scene.file];
	scene.answer = { status: 201, text: JSON.stringify({ smallkey: "\u009b2J\u202e", key: "two\nlines" }) };
	const receipt = await run(scene, "put", words);
	assert.is(receipt.stdout, '{\n  "smallkey": "\\u009b2J\\u202e",\n  "key": "two\\nlines"\n}\n');
	scene.answer = { status: 400, text: JSON.stringify({ errors: [hostile, { toString: 1 }] }) };
	const refused = await exits(run(scene, "put", words), 1);
	assert.is(
		refused.stderr,
		`400 from ${scene.url}/register/my-layer\nthe service: ${shown}\nthe service: {"toString":1}\n`,
	);
	scene.answer = { status: 502, text: `<html>${hostile}\nBad gateway` };
	const proxy = await exits(run(scene, "remove", ["my-layer"]), 2);
	assert.is(
		proxy.stderr,
		`502 from ${scene.url}/register/my-layer\nthe service: <html>${shown}\nthe service: Bad gateway\n`,
	);
	const command = "::error::merge this";
	scene.answer = { status: 400, text: JSON.stringify({ errors: [`x\n${command}`], hint: command }) };
	assert.not.match((await run(scene, "put", words)).stderr, /^\s*::/m, "no line is a command of a CI runner");
	scene.answer = { status: 201, text: JSON.stringify(command) };
	assert.is((await run(scene, "put", words)).stdout, `"${command}"\n`);
	scene.answer = { status: 200, text: hostile };
	const page = await run(scene, "put", words);
	assert.equal([page.code, page.stdout], [2, ""]);
	assert.is(page.stderr, `${scene.url}/register/my-layer: its answer is not a receipt\n`);
});

test("an endless answer is cut off with an error", async (scene) => {
	let isClosed: () => void;
	const closed = new Promise<void>((resolve) => {
		isClosed = resolve;
	});
	scene.respond = (_request, response) => {
		const some = Buffer.alloc(65_536, "x");
		const write = () => {
			while (!response.destroyed && response.write(some));
		};
		response.on("drain", write).on("close", isClosed);
		write();
	};
	const { code, stdout, stderr } = await run(scene, "remove", ["my-layer"]);
	assert.equal([code, stdout], [2, ""]);
	assert.is(stderr, `${scene.url}/register/my-layer: answers with more than 1,000,000 bytes\n`);
	await closed;
});

test("a command waits for an answer that never comes, or never ends, only until its time limit", async (scene) => {
	const request = {
		method: "DELETE",
		smallkey: "my-layer",
		body: new Uint8Array(0),
		target: "/base/register/my-layer",
		url: scene.url,
		headers: { Authorization: "", TimeStamp: "", Sender: "" },
	};
	for (const start of [() => undefined, (response: ServerResponse) => response.write("{")]) {
		scene.respond = (_request, response) => start(response);
		await exchange(request, 300).then(
			() => assert.unreachable(),
			({ message, cause }: Error) => {
				assert.is(message, `${scene.url}/register/my-layer`);
				assert.match((cause as Error).message, "did not answer completely within 0.3 s");
			},
		);
	}
});

test("--dry-run shows what viewers would read, and sends nothing", async (scene) => {
	const words = ["my-layer", scene.file, "--dry-run"];
	const { stdout } = await exits(run(scene, "put", words, {}), 0);
	assert.match(stdout, /^\/v0\.9\/doc\/en\/my-layer\n\{\n {2}"layers": \{\n/);
	assert.match(stdout, '"id": "rcs.my-layer.fr"');
	assert.equal(scene.asked, []);
});

test("--dry-run names every problem of the file and of the smallkey, and what is odd", async (scene) => {
	await writeFile(scene.file, feature.replaceAll("https:", "ftp:"));
	const wrong = await exits(run(scene, "put", ["my layer", scene.file, "--dry-run"], {}), 1);
	assert.match(wrong.stderr, /^my layer: a smallkey must be 1 to 64 of/);
	assert.match(wrong.stderr, "layer.json: /en/service_url: must be an http or https address");
	assert.match(wrong.stderr, "layer.json: /fr/service_url: must be an http or https address");
	assert.is(wrong.stdout, "");
	await writeFile(scene.file, '{\n  "version" "1.0.0"\n}');
	const broken = await run(scene, "put", ["my-layer", scene.file, "--dry-run"], {});
	assert.match(broken.stderr, "layer.json: the document must be JSON: line 2, column 13");
	await writeFile(scene.file, manual);
	const odd = await run(scene, "put", ["my-layer", scene.file, "--dry-run"], {});
	assert.match(odd.stderr, /^warning: .*layer\.json: /);
	assert.equal(scene.asked, []);
});

test("sign prints the three headers, and --explain how they come about, without the secret", async (scene) => {
	const headers = `Authorization: ${await signatureOf(manual)}\nTimeStamp: 2026-03-04T12:00:00.000Z\nSender: jstest\n`;
	const signed = await run(scene, "sign", ["my-layer", scene.file]);
	assert.equal([signed.code, signed.stdout], [0, headers]);
	const { stdout } = await exits(run(scene, "sign", ["my-layer", scene.file, "--explain"]), 0);
	assert.match(stdout, `‹/base/register/my-layer›‹jstest›‹2026-03-04T12:00:00.000Z›‹${manual}›`);
	assert.match(stdout, `  body       ${manual.length} bytes`);
	assert.match(stdout, "  PUT /base/register/my-layer HTTP/1.1\n");
	for (const line of headers.trim().split("\n")) assert.match(stdout, `  ${line}\n`);
	assert.not.match(stdout, secret);
	const removal = await run(scene, "sign", ["my-layer", "--explain"]);
	assert.match(removal.stdout, "  DELETE /base/register/my-layer HTTP/1.1\n");
	assert.match(removal.stdout, "‹2026-03-04T12:00:00.000Z›‹›");
	assert.equal(scene.asked, []);
});

test("the secret comes from SENDERS, the senders file, or a person; else the message says what to do", async (scene) => {
	const header = `Authorization: ${await signatureOf("")}\n`;
	const now = () => new Date(noon);
	const words = ["my-layer", "--url", scene.url];
	const senders = JSON.stringify({ jstest: secret });
	const named = [...words, "--sender", "jstest"];
	assert.match((await runScript("sign", words, { SENDERS: senders }, { now })).stdout, header);
	await writeFile(join(scene.folder, "senders.json"), senders);
	assert.match((await runScript("sign", words, { DATA_DIR: scene.folder }, { now })).stdout, header);
	await writeFile(join(scene.folder, "senders.json"), '{"other":"other secret"}');
	const asked: unknown[] = [];
	const ask = async (...question: unknown[]) => {
		asked.push(question);
		return secret;
	};
	assert.match((await runScript("sign", named, { DATA_DIR: scene.folder }, { now, ask })).stdout, header);
	assert.equal(asked, [["Secret of jstest: ", true]]);
	const alone = await exits(runScript("sign", named, { DATA_DIR: scene.folder }, { now }), 2);
	assert.match(alone.stderr, "senders.json: has no sender jstest; set SENDER_SECRET, or DATA_DIR to that of");
	const nowhere = await runScript("sign", words, { DATA_DIR: join(scene.folder, "none") }, { now });
	assert.match(nowhere.stderr, "senders.json: is not there; set SENDER_SECRET");
	const anonymous = await runScript("sign", words, { SENDER_SECRET: secret }, { now });
	assert.match(anonymous.stderr, "--sender: is needed with SENDER_SECRET");
	assert.is(await readFile(join(scene.folder, "senders.json"), "utf8"), '{"other":"other secret"}');
});

test("a file that is not there, and a wrong address, are reported", async (scene) => {
	await warns(run(scene, "put", ["my-layer", join(scene.folder, "none.json")]), 2, "none.json");
	const nowhere = await exits(runScript("put", ["my-layer", scene.file, "--url", "ftp://x"], {}), 2);
	assert.match(nowhere.stderr, "'ftp://x' is invalid. It must be an http or https address.");
	assert.equal(scene.asked, []);
});

test.run();
