import * as assert from "uvu/assert";
import { refuse, tooLarge } from "../../api/reply.ts";
import { parseSenders } from "../../api/senders.ts";
import type { Write as HandledWrite } from "../../api/write.ts";
import { readDraft } from "../../registry/draft.ts";
import { StoreBusy } from "../../store/store.ts";
import {
	everyPath,
	feature,
	Handlers,
	handleWrite,
	largeWhenStored,
	manual,
	signedWrite,
	textOf,
	tiles,
	version2,
	type Write,
	wms,
} from "../helpers/handlers.ts";
import { freshSuite } from "../helpers/world.ts";

const test = freshSuite("writes", () => ({ handlers: new Handlers() }));

const target = "/register/23ax5t";
const good = { target, body: manual };

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
async function receiptOf(answer: Promise<Response> | Response): Promise<any> {
	return (await answer).json();
}

test("a PUT is a commit that names its request, and has a complete receipt", async ({ handlers }) => {
	const timestamp = "2026-03-04T11:59:30Z";
	const receipt = await receiptOf(handlers.expect(201, { ...good, timestamp }));
	const [commit] = handlers.store.commits;
	assert.equal(receipt, {
		smallkey: "23ax5t",
		key: "23ax5t",
		commit: commit?.id,
		changed: true,
		fragments: everyPath("23ax5t"),
		published: true,
		warnings: [
			"/en/service_url: is not https: a page over https cannot load it",
			"/fr/service_url: is not https: a page over https cannot load it",
		],
	});
	assert.equal(handlers.stored("23ax5t"), JSON.parse(manual));
	const { author, time, subject, request, branch } = commit ?? {};
	assert.equal(
		[author, time, subject, branch],
		["jstest", Date.parse(timestamp), "register 23ax5t (wms)", "main"],
	);
	assert.match(request ?? "", /^[0-9a-f]{64}$/);
	const spelled = JSON.stringify(JSON.parse(manual), null, "\t");
	const again = await receiptOf(handlers.expect(201, { ...good, body: spelled }));
	assert.equal([again.changed, again.commit, handlers.store.commits.length], [false, commit?.id, 1]);
	await handlers.commit({ path: "layers/23/23ax5t.json", text: spelled });
	const byHand = await receiptOf(handlers.expect(201, good));
	assert.is(byHand.changed, false, "the stored file is spelled in another way");
});

test("with PUBLIC_URL the receipt says where the layer is seen on a map and in the catalogue", async () => {
	const handlers = new Handlers({}, { PUBLIC_URL: "https://layers.example/rcs/" });
	const { draft, status } = await receiptOf(handlers.put("b+c"));
	assert.is(status, "https://layers.example/rcs/?layer=b%2Bc");
	const [page, hash = ""] = draft.split("#");
	assert.is(page, "https://layers.example/rcs/?page=draft");
	const shown = readDraft(`#${hash}`);
	assert.equal([shown?.smallkey, JSON.parse(shown?.text ?? "")], ["b+c", JSON.parse(manual)]);
});

test("the receipt has no path of a target that cannot express the layer", async ({ handlers }) => {
	const { fragments } = await receiptOf(handlers.put("tiles", tiles));
	assert.equal(
		fragments,
		everyPath("tiles").filter((path) => !/^\/v(?:0\.9|1)\//.test(path)),
	);
	for (const path of everyPath("tiles"))
		assert.is((await handlers.get(path)).status, fragments.includes(path) ? 200 : 404, path);
	const layers = { scrape_only: [1, 2] };
	const receipt = await receiptOf(handlers.put("two", version2("esriFeatureServer", layers, layers)));
	assert.equal(
		[receipt.fragments, receipt.warnings.at(-1)],
		[[], "no target can show this layer, or not before its harvest"],
	);
});

test("a timestamp is less than two minutes from the clock, to the millisecond", async ({ handlers }) => {
	const rule = /^TimeStamp: must be .* which is 2026-03-04T12:00:00.000Z/;
	for (const timestamp of ["2026-03-04T11:58:00Z", "2026-03-04T12:02:00Z", "Wed, 04 Mar 2026 12:00:00 +0000"])
		await handlers.refuses(401, { ...good, timestamp }, rule);
	for (const time of ["11:58:00.001Z", "12:01:59.999+00:00", "12:01:59"])
		await handlers.expect(201, { ...good, timestamp: `2026-03-04T${time}` });
});

test("one order: size, signature, smallkey, payload, ownership, store", async ({ handlers }) => {
	await handlers.put("taken");
	const large = manual.padEnd(65_537);
	const narrow = { sender: "narrow" };
	const wrong = { ...narrow, secret: "wrong" };
	const empty = { method: "DELETE", body: "" };
	const rows: [status: number, key: string, write: Partial<Write>, text: RegExp][] = [
		[413, "a.b", { ...wrong, body: large }, /^the document: must have at most 65536 bytes$/],
		[401, "a.b", { ...wrong, body: "junk" }, /^Authorization: /],
		[400, "a.b", { ...narrow, body: "junk" }, /^smallkey: must be 1 to 64/],
		[400, "TAKEN", { ...narrow, body: "junk" }, /^the document: must be JSON/],
		[403, "TAKEN", narrow, /^smallkey: sender narrow may change/],
		[409, "TAKEN", {}, /^smallkey: TAKEN differs only in case from taken/],
		[400, "none", { ...narrow, method: "DELETE" }, /^the body must be empty$/],
		[403, "none", { ...narrow, ...empty }, /^smallkey: sender narrow/],
		[404, "none", empty, /^smallkey: none is not registered$/],
	];
	for (const [status, key, write, text] of rows)
		await handlers.refuses(status, { target: `/register/${key}`, body: manual, ...write }, text);
	await handlers.expect(201, { target: "/register/big", body: manual.padEnd(65_536) });
	const rule = "the document: must have at most 65536 bytes";
	await handlers.refuses(400, { target: "/register/many", body: largeWhenStored }, rule);
	await handlers.expect(201, { target: "/register/abc", body: manual, sender: "narrow" });
});

test("a 401 has one text for a wrong signature and an unknown sender, and a hint that names the path", async () => {
	const handlers = new Handlers({}, { BASE_PATH: "/rcs" });
	const ask = async (write: Partial<Write>) =>
		receiptOf(handlers.expect(401, { target: "/rcs/register/a", body: manual, ...write }));
	const mismatch = "Authorization: is not the signature of this path, sender, timestamp and body";
	const wrong = await ask({ secret: "wrong" });
	assert.is(wrong.errors[0], mismatch);
	assert.match(wrong.errors[1], " /rcs/register/<smallkey>;");
	assert.equal(await ask({ sender: "unknown" }), wrong);
	// The secret with which the code itself signs for an unknown sender.
	assert.equal(await ask({ sender: "unknown", secret: "no sender has this secret" }), wrong);
	const padded = { headers: { Authorization: `${"a".repeat(43)}=` } };
	const [again, shape] = (await ask(padded)).errors;
	assert.is(again, mismatch);
	assert.match(shape, /^Authorization: must be the signature alone: 43 of A-Z /);
	const basic = await ask({ headers: { Authorization: "Basic dXNlcjpwYXNz" } });
	const word = "Authorization: must be the signature alone, without the word Basic before it";
	assert.equal(basic.errors.slice(0, 2), [mismatch, word]);
	const late = await ask({ timestamp: "yesterday" });
	assert.match(late.errors[0], / which is 20\S+Z, not "yesterday"$/);
});

async function costOf(write: HandledWrite, { context }: Handlers): Promise<[number, string[]]> {
	const calls: string[] = [];
	const { subtle } = crypto;
	const { digest, sign } = subtle;
	const noted = (name: string, hash: (...words: unknown[]) => unknown) =>
		function (this: SubtleCrypto, ...words: unknown[]) {
			calls.push(`${name} ${(words.at(-1) as Uint8Array).length}`);
			return hash.apply(this, words);
		};
	Object.assign(subtle, { digest: noted("digest", digest as never), sign: noted("sign", sign as never) });
	const { status } = await handleWrite(write, context);
	Object.assign(subtle, { digest, sign });
	return [status, calls];
}

test("an unknown sender, a wrong secret and a right one cost the same hashes", async ({ handlers }) => {
	const bytes = `${target}jstest2026-03-04T12:00:00.000Z`.length + manual.length;
	// Two secrets are tried: during a rotation a sender has two.
	const cost = ["digest 43", `sign ${bytes}`, `sign ${bytes}`];
	for (const [sender, secret] of [["jstest"], ["jstest", "wrong"], ["nobody"], ["narrow", "x"]]) {
		const write = await signedWrite({ ...good, sender, ...(secret && { secret }) }, handlers.now);
		assert.equal((await costOf(write, handlers))[1].slice(0, 3), cost, sender);
	}
});

test("a write that its head or its size shows to be wrong costs no hash", async ({ handlers }) => {
	const write = await signedWrite(good, handlers.now);
	const wrong: Partial<HandledWrite>[] = [
		...["", "x".repeat(42), `${write.signature}=`, "x".repeat(60_000)].map((signature) => ({ signature })),
		{ sender: "" },
		...["", "yesterday", new Date(handlers.now - 120_000).toISOString()].map((timestamp) => ({ timestamp })),
	];
	for (const part of wrong)
		assert.equal(await costOf({ ...write, ...part }, handlers), [401, []], JSON.stringify(part).slice(0, 80));
	assert.equal(await costOf({ ...write, body: refuse(tooLarge) }, handlers), [413, []]);
	assert.equal(handlers.store.commits, []);
});

test("a write over a limit is 429 with Retry-After, and stores nothing", async ({ handlers }) => {
	const addresses: string[] = [];
	handlers.context.limitWrites = (address) => addresses.push(address) && 30;
	const write = await signedWrite(good, handlers.now);
	const handle = (more: object) => handleWrite({ ...write, ...more }, handlers.context);
	const limited = await handle({ address: "192.0.2.1", body: refuse(tooLarge) });
	assert.equal([limited.status, limited.headers["Retry-After"], addresses], [429, "30", ["192.0.2.1"]]);
	assert.match(textOf(limited), "too many requests: try again after 30 seconds");
	assert.equal(handlers.store.commits, []);
	assert.is((await handle({})).status, 201, "this machine itself");
});

test("a change for review waits, and another sender's is refused meanwhile", async ({ handlers }) => {
	const { context, store } = handlers;
	const other = parseSenders('{"other":{"key":"another secret","review":true}}', "");
	const senders = new Map([...context.settings.senders, ...other]);
	context.settings = { ...context.settings, senders };
	await handlers.put("k", wms("one"));
	const careful = { target: "/register/k", sender: "careful" };
	const { branch, published, commit } = await receiptOf(
		handlers.expect(201, { ...careful, body: wms("two") }),
	);
	assert.equal([branch, published, commit], ["register/k", false, store.commits.at(-1)?.id]);
	const update = { target: "/v2/update/k", body: '{"en":{"layer":"x"}}' };
	for (const change of [update, { method: "DELETE" }]) {
		handlers.now += 1_000;
		const { branch, fragments } = await receiptOf(handlers.expect(202, { ...careful, ...change }));
		assert.equal([branch, fragments.length > 0], ["register/k", change === update]);
	}
	assert.match(textOf(await handlers.get("/v0.9/doc/en/k")), '"layerName":"one"');
	const text = "a change of the sender careful waits for a reviewer: send yours after the decision";
	const late = { ...careful, body: wms("three"), sender: "other", secret: "another secret" };
	await handlers.refuses(409, late, `smallkey: ${text}`);
});

test("the header Review puts changes of a reviewed sender into one review", async ({ handlers }) => {
	const headers = { Review: "spring.2026" };
	const branches: string[] = [];
	for (const [status, key, write] of [
		[201, "a", { body: wms("a") }],
		[201, "b", { body: wms("b") }],
		[202, "a", { method: "DELETE" }],
	] as const) {
		handlers.now += 1_000;
		const reviewed = { target: `/register/${key}`, sender: "careful", headers, ...write };
		branches.push((await receiptOf(handlers.expect(status, reviewed))).branch);
	}
	assert.equal(new Set(branches), new Set(["register/careful+review.spring.2026"]));
	const direct = await receiptOf(handlers.expect(201, { target: "/register/c", body: wms("c"), headers }));
	assert.equal([direct.branch, direct.published], [undefined, true]);
	for (const name of ["a/b", ".a", "a..b", "a.", "a.lock", "é", "a, b", "a".repeat(65)]) {
		const write = { target: "/register/d", body: wms("d"), sender: "careful", headers: { Review: name } };
		await handlers.refuses(400, write, /^Review: must be 1 to 64 of A-Z a-z 0-9 \. _ -/);
	}
});

test("a change of type or a DELETE takes the service description along", async ({ handlers }) => {
	const path = "layers/fl/flow.service.json";
	for (const end of [() => handlers.put("flow", manual), () => handlers.delete("flow")]) {
		await handlers.put("flow", feature);
		await handlers.commit({ path, text: '{"en":{"service_url":"https://host.example/MapServer/1"}}' });
		handlers.now += 1_000;
		await handlers.put("flow", feature.replace('"service_url"', '"service_name":"Flow","service_url"'));
		assert.ok(handlers.store.files.has(path), "the same layer keeps it");
		assert.ok((await end()).ok);
		assert.not(handlers.store.files.has(path));
		handlers.now += 1_000;
	}
	assert.equal([...handlers.store.files], []);
});

test("a busy store is 503 and the request stays usable; one that fails is 500", async ({ handlers }) => {
	const { context, store } = handlers;
	const write = { ...good, timestamp: new Date(handlers.now).toISOString() };
	const fail = (error: Error) => {
		context.store = { ...store, change: () => Promise.reject(error) };
		return handlers.expect(error instanceof StoreBusy ? 503 : 500, write);
	};
	const busy = await fail(new StoreBusy("disk-full", 7, "a word for the log"));
	const text = "the disk of this service is full: tell its operator";
	assert.equal([busy.headers.get("Retry-After"), (await receiptOf(busy)).errors], ["7", [text]]);
	assert.equal(handlers.reported, []);
	const error = new Error("a secret");
	assert.equal(await receiptOf(fail(error)), {
		errors: ["the service failed, and the change may not be stored: send the same again"],
	});
	assert.equal(handlers.reported, [error]);
	context.store = store;
	await handlers.expect(201, write);
});

test.run();
