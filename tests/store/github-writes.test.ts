import * as assert from "uvu/assert";
import type { Context } from "../../api/context.ts";
import { inLanguageOf } from "../../api/reply.ts";
import { parseSenders, sign } from "../../api/senders.ts";
import { textsOf } from "../../registry/problems.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { everyPath, type HandledWrite, handleWrite, manual, responseOf, wms } from "../helpers/local.ts";
import { freshSuite } from "../helpers/world.ts";
import { type Peer, pausingClock, startPeer } from "./github-peer.ts";

const senders = {
	jstest: "test_-k",
	narrow: { key: "narrow secret", smallkeys: ["ab*"] },
	careful: { key: "careful secret", review: true },
};

/** What a publisher meets in front of a GitHub of the test's own. */
interface Service {
	peer: Peer;
	context: Context;
	reported: unknown[];
}

const test = freshSuite<Service>("writes to GitHub", async (use) => {
	const peer = use(await startPeer());
	const reported: unknown[] = [];
	const context: Context = {
		store: peer.store(pausingClock()),
		settings: {
			senders: parseSenders(JSON.stringify(senders), "SENDERS"),
			basePath: "",
			docsMaxKeys: 1000,
			targets: targetNames,
			metadataUrl: "",
			catalogueUrl: "",
		},
		now: () => new Date(),
		log: { error: (error) => reported.push(error) },
		readiness: () => null,
	};
	return { peer, context, reported };
});

/** A signed write: PUT with a body, DELETE without. */
async function signed(smallkey: string, body: string | null, sender = "jstest"): Promise<HandledWrite> {
	const target = `/register/${smallkey}`;
	const timestamp = new Date().toISOString();
	const entry = senders[sender as keyof typeof senders];
	const secret = typeof entry === "string" ? entry : entry.key;
	const bytes = new TextEncoder().encode(body ?? "");
	const signature = await sign(secret, { path: target, sender, timestamp, body: bytes });
	return {
		action: body === null ? "remove" : "register",
		target,
		address: null,
		sender,
		timestamp,
		signature,
		length: null,
		body: bytes,
	};
}

async function send({ context }: Service, write: HandledWrite): Promise<Response> {
	return responseOf(await handleWrite(write, context));
}

async function write(service: Service, smallkey: string, body: string | null, sender?: string) {
	return send(service, await signed(smallkey, body, sender));
}

test("PUT: 201 with the receipt of a commit that is on the branch", async (service) => {
	const answer = await write(service, "23ax5t", manual);
	assert.is(answer.status, 201);
	const [newest] = await service.peer.commits();
	assert.equal(await answer.json(), {
		smallkey: "23ax5t",
		key: "23ax5t",
		commit: newest?.sha,
		changed: true,
		fragments: everyPath("23ax5t"),
		published: false,
		warnings: textsOf(warningsOf(JSON.parse(manual))),
	});
	const [subject, blank, ...trailers] = newest?.commit.message.split("\n") ?? [];
	assert.equal([subject, blank], ["register 23ax5t (wms)", ""]);
	const names = trailers.map((trailer) => trailer.split(": ")[0]);
	assert.equal(names, ["Sender", "TimeStamp", "Request"]);
	assert.match(trailers[2] ?? "", /^Request: [0-9a-f]{64}$/);
	const stored = await service.peer.file("layers/23/23ax5t.json");
	assert.equal(JSON.parse(stored ?? ""), JSON.parse(manual));
	assert.equal(service.reported, []);
});

test("the same payload again: 201 and no commit", async (service) => {
	const first = (await (await write(service, "23ax5t", manual)).json()) as { commit: string };
	const answer = await write(service, "23ax5t", manual);
	assert.is(answer.status, 201);
	assert.is(((await answer.json()) as { commit: string }).commit, first.commit);
	assert.is((await service.peer.commits()).length, 2);
});

test("the same request again: 201, and 401 once the layer has changed", async (service) => {
	const request = await signed("23ax5t", manual);
	assert.is((await send(service, request)).status, 201);
	assert.is((await send(service, request)).status, 201);
	assert.is((await write(service, "23ax5t", wms("other"))).status, 201);
	assert.is((await send(service, request)).status, 401);
	assert.match((await service.peer.file("layers/23/23ax5t.json")) ?? "", /"other"/);
	assert.is((await service.peer.commits()).length, 3);
});

test("DELETE: 204, and 404 for what is not there", async (service) => {
	await write(service, "23ax5t", manual);
	const answer = await write(service, "23ax5t", null);
	assert.equal([answer.status, await answer.text()], [204, ""]);
	assert.is(await service.peer.file("layers/23/23ax5t.json"), null);
	assert.is((await service.peer.commits())[0]?.commit.message.split("\n")[0], "remove 23ax5t");
	assert.is((await write(service, "23ax5t", null)).status, 404);
	assert.is((await service.peer.commits()).length, 3);
});

test("what is refused reaches no branch", async (service) => {
	await write(service, "abc", manual);
	const commits = (await service.peer.commits()).length;
	const refused: [number, HandledWrite][] = [
		[400, await signed("x", "{}")],
		[403, await signed("x", manual, "narrow")],
		[409, await signed("ABC", manual)],
		[401, { ...(await signed("x", manual)), signature: "", sender: "", timestamp: "" }],
	];
	for (const [status, request] of refused) {
		const answer = await send(service, request);
		assert.is(answer.status, status);
		assert.equal(Object.keys((await answer.json()) as object), ["errors"]);
	}
	assert.is((await service.peer.commits()).length, commits);
	assert.equal(service.reported, []);
});

test("review: 201 with the pull request, 202 for a DELETE; the branch below stays as it was", async (service) => {
	await write(service, "23ax5t", manual);
	const answer = await write(service, "23ax5t", wms("other"), "careful");
	assert.is(answer.status, 201);
	const receipt = (await answer.json()) as Record<string, string>;
	const { data: pulls } = await service.peer.api<{ html_url: string; title: string }[]>("GET", "/pulls");
	assert.equal(
		pulls.map(({ html_url }) => html_url),
		[receipt.pull_request],
	);
	assert.equal([receipt.branch, receipt.published], ["register/23ax5t", false]);
	const again = await write(service, "23ax5t", wms("third"), "careful");
	assert.is(((await again.json()) as Record<string, string>).pull_request, receipt.pull_request);
	assert.match((await service.peer.file("layers/23/23ax5t.json", "register/23ax5t")) ?? "", /"third"/);
	const removal = await write(service, "23ax5t", null, "careful");
	assert.is(removal.status, 202);
	assert.is(((await removal.json()) as Record<string, string>).pull_request, receipt.pull_request);
	assert.is(await service.peer.file("layers/23/23ax5t.json", "register/23ax5t"), null);
	assert.match((await service.peer.file("layers/23/23ax5t.json")) ?? "", /"limits"/);
	assert.is((await service.peer.commits()).length, 2);
});

test("a publisher's text is nothing but text in the pull request", async (service) => {
	const hostile = "@octocat | `x` < script>alert(1)< /script> #1 [a](http://evil.example) **b** <1>";
	const body = JSON.stringify({ ...JSON.parse(wms("x")), en: { ...JSON.parse(manual).en, layer: hostile } });
	const answer = await write(service, "23ax5t", body, "careful");
	assert.is(answer.status, 201, await answer.text());
	const { data } = await service.peer.api<{ body: string }[]>("GET", "/pulls");
	const table = (data[0]?.body ?? "").split("\n").filter((line) => line.startsWith("| <code>"));
	assert.ok(table.length >= 6);
	for (const row of table)
		assert.match(row, /^\| <code>[A-Za-z0-9 &#;]*<\/code> \| {2}\| <code>[A-Za-z0-9 &#;]*<\/code> \|$/);
});

const faults = [
	["GitHub's error", { kind: "answer", status: 500 }, /answers 500/, /GitHub répond 500; renvoyez /],
	["no answer", { kind: "silence" }, /does not answer/, /GitHub ne répond pas; renvoyez /],
	[
		"a pause",
		{ kind: "answer", status: 403, headers: { "Retry-After": "77" } },
		/asks for a pause/,
		/GitHub demande une pause"/,
	],
] as const;

for (const [name, effect, text, french] of faults) {
	test(`${name}: 503 in both languages, and 201 for the same request later`, async (service) => {
		service.peer.proxy.faults.push({ method: "GET", path: /./, times: 1_000, effect });
		const request = await signed("23ax5t", manual);
		const reply = await handleWrite(request, service.context);
		const answer = responseOf(reply);
		assert.is(answer.status, 503);
		assert.match(await responseOf(inLanguageOf(reply, "fr")).text(), french);
		const seconds = Number(answer.headers.get("Retry-After"));
		assert.ok(seconds >= 1 && seconds <= 77 + 30, String(seconds));
		const { errors } = (await answer.json()) as { errors: string[] };
		assert.match(errors.join(), text);
		assert.match(errors.join(), /^the layers cannot be changed now: /);
		assert.is((await service.peer.commits()).length, 1);
		service.peer.proxy.faults.length = 0;
		// The store of another process: this one keeps the pause that it was asked for.
		service.context.store = service.peer.store();
		assert.is((await send(service, request)).status, 201);
		assert.is((await service.peer.commits()).length, 2);
		assert.equal(service.reported, []);
	});
}

test("GitHub refuses the service: 500 for the publisher, the reason for the log", async (service) => {
	const effect = { kind: "answer", status: 401, message: "Bad credentials" } as const;
	service.peer.proxy.faults.push({ method: "GET", path: /./, times: 1_000, effect });
	const answer = await write(service, "23ax5t", manual);
	assert.is(answer.status, 500);
	assert.not.match(await answer.text(), /GitHub|credentials/);
	assert.match(String(service.reported[0]), /401 .*Bad credentials/);
	assert.not.match(String((service.reported[0] as Error).stack), new RegExp(service.peer.token));
	assert.is((await service.peer.commits()).length, 1);
});

test("50 PUTs of different keys and 20 of one at once: each 201 is on the branch", async (service) => {
	service.context.store = service.peer.store();
	const requests = [
		...Array.from({ length: 50 }, (_, index) => signed(`many-${index}`, wms(`l${index}`))),
		...Array.from({ length: 20 }, (_, index) => signed("one", wms(`l${index}`))),
	];
	const answers = await Promise.all(requests.map(async (request) => send(service, await request)));
	assert.equal([...new Set(answers.map(({ status }) => status))], [201]);
	const receipts = (await Promise.all(answers.map((answer) => answer.json()))) as { commit: string }[];
	const branch = new Set((await service.peer.commits()).map(({ sha }) => sha));
	assert.is(branch.size, 71);
	assert.is(new Set(receipts.map(({ commit }) => commit)).size, 70);
	for (const { commit } of receipts) assert.ok(branch.has(commit));
	for (let index = 0; index < 50; index += 1) {
		const stored = await service.peer.file(`layers/ma/many-${index}.json`);
		assert.match(stored ?? "", `"l${index}"`);
	}
});

test.run();
