import * as assert from "uvu/assert";
import type { Context } from "../../api/context.ts";
import { TokenBuckets } from "../../api/limits.ts";
import { putEdits } from "../../api/register.ts";
import { parseSenders } from "../../api/senders.ts";
import { unpackDraft } from "../../registry/draft.ts";
import { canonicalText, parseRegistration } from "../../registry/registration.ts";
import {
	everyPath,
	feature,
	type HandledWrite,
	handleWrite,
	Local,
	largeWhenStored,
	manual,
	noon,
	signedWrite,
	textOf,
	type Write,
	wms,
} from "../helpers/local.ts";
import { freshSuite } from "../helpers/world.ts";
import { notingHashes } from "./noted-hashes.ts";

const test = freshSuite("writes", async (use) => ({ local: use(await Local.open()) }));

async function errorsOf(answer: Response): Promise<string[]> {
	const { hint, ...body } = (await answer.json()) as { errors: string[]; hint?: string };
	assert.equal(Object.keys(body), ["errors"]);
	assert.is(
		hint !== undefined,
		/^(?:Authorization: is not the signature|TimeStamp: must)/.test(body.errors[0] ?? ""),
	);
	return body.errors;
}

/** Sends a write that must be refused, and that nothing is stored by it. */
async function refused(local: Local, write: Write, status: number, text: RegExp | string): Promise<void> {
	const before = await local.state();
	const answer = await local.write(write);
	const said = JSON.stringify(write).slice(0, 200);
	assert.is(answer.status, status, said);
	const errors = await errorsOf(answer);
	if (typeof text === "string") assert.ok(errors.includes(text), `${said}: ${errors}`);
	else
		assert.ok(
			errors.some((error) => text.test(error)),
			`${said}: ${errors}`,
		);
	assert.not.match(errors.join(), /\bat .*\.ts/);
	assert.is(await local.state(), before, said);
	assert.equal(local.reported, []);
}

for (const prefix of ["/register", "/v1/register", "/v2/register"]) {
	test(`PUT ${prefix}/<smallkey> stores the layer and answers with a receipt`, async ({ local }) => {
		const answer = await local.write({ target: `${prefix}/23ax5t`, body: manual });
		assert.is(answer.status, 201);
		assert.equal(await answer.json(), {
			smallkey: "23ax5t",
			key: "23ax5t",
			commit: await local.git("rev-parse", "main"),
			changed: true,
			fragments: everyPath("23ax5t"),
			published: true,
			status: "/status/23ax5t",
			warnings: [
				"/en/service_url: is not https: a page over https cannot load it",
				"/fr/service_url: is not https: a page over https cannot load it",
				"/fr/service_url: is that of /en, so the layer is the same in both languages",
			],
		});
		const again = await local.write({ target: `${prefix}/23ax5t`, body: manual });
		assert.is(((await again.json()) as { changed: boolean }).changed, false);
		const stored = await local.git("show", "main:layers/23/23ax5t.json");
		assert.equal(JSON.parse(stored), JSON.parse(manual));
		assert.is(local.get("/v0.9/doc/en/23ax5t").status, 200);
	});
}

test("with PUBLIC_URL the receipt says where the registration is seen on a map", async ({ local }) => {
	const settings = { ...local.context.settings, publicUrl: "https://layers.example/rcs" };
	local.context = { ...local.context, settings };
	const { draft } = (await (await local.put("23ax5t")).json()) as { draft: string };
	const [page, packed = ""] = draft.split("#draft=");
	assert.is(page, "https://layers.example/rcs/?page=draft");
	const shown = await unpackDraft(packed);
	assert.is(shown?.smallkey, "23ax5t");
	assert.is(shown?.text.trim(), await local.git("show", "main:layers/23/23ax5t.json"));
});

test("a layer that some target cannot express is accepted, and the receipt names that target", async (scene) => {
	const { local } = scene;
	const node = { service_type: "esriTile", service_url: "https://host.example/MapServer" };
	const body = JSON.stringify({
		version: "2.0",
		en: node,
		fr: { ...node, service_type: "ogcWmts", scrape_only: ["t"] },
	});
	const answer = await local.put("tiles", body);
	assert.is(answer.status, 201);
	const { fragments, warnings } = (await answer.json()) as { fragments: string[]; warnings: string[] };
	assert.equal(fragments.slice(0, 5), [
		"/v2/doc/en/tiles",
		"/v2/doc/fr/tiles",
		"/ramp4/en/tiles",
		"/terria/en/tiles",
		"/terria/fr/tiles",
	]);
	const rule = "this layer has no form there, and is answered with 404";
	assert.equal(warnings.slice(-3), [
		`v0.9, en and fr: ${rule}`,
		`v1, en and fr: ${rule}`,
		`ramp4, fr: ${rule}`,
	]);
	for (const path of fragments) assert.is(local.get(path).status, 200, path);
	for (const path of ["/v0.9/doc/en/tiles", "/v1/doc/fr/tiles", "/ramp4/fr/tiles"])
		assert.is(local.get(path).status, 404, path);
	assert.is(textOf(local.get("/ramp4/fr/tiles,tiles")), "[]");
	const whole = { service_type: "ogcWms", service_url: "https://host.example/wms", recursive: true };
	const later = await local.write({
		target: "/register/whole",
		body: JSON.stringify({ version: "2.0", en: whole, fr: whole }),
	});
	assert.ok(
		((await later.json()) as { warnings: string[] }).warnings.includes(
			"v0.9, en and fr: this layer has no form there before it is harvested, and is answered with 404",
		),
	);
});

test("the signature that the older manual gives as an example is accepted at its time", async ({ local }) => {
	local.now = Date.UTC(2014, 11, 5, 18, 29, 10);
	const known = {
		Authorization: "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY",
		TimeStamp: "2014-12-05T18:28:56.714Z",
		Sender: "jstest",
	};
	const target = "/register/23ax5t";
	await refused(local, { target: "/v1/register/23ax5t", body: manual, headers: known }, 401, /Authorization/);
	const answer = await local.write({ target, body: manual, headers: known });
	assert.is(answer.status, 201);
});

test("a commit says who asked for what, and when", async ({ local }) => {
	await local.write({ target: "/register/23ax5t", body: manual, timestamp: "2026-03-04T11:59:30Z" });
	const format =
		"%an|%ae|%aI|%cn|%cI|%s|%(trailers:key=Sender,valueonly,separator=)|%(trailers:key=TimeStamp,valueonly,separator=)";
	const [author, mail, date, committer, committed, subject, sender, timestamp] = (
		await local.git("log", "-1", `--format=${format}`)
	).split("|");
	assert.is(author, "jstest");
	assert.is(mail, "jstest@sender.invalid");
	assert.is(new Date(date as string).toISOString(), "2026-03-04T11:59:30.000Z");
	assert.is(committer, "fragment-publisher");
	assert.is(new Date(committed as string).getTime(), noon);
	assert.is(subject, "register 23ax5t (wms)");
	assert.is(sender, "jstest");
	assert.is(timestamp, "2026-03-04T11:59:30Z");
	assert.match(await local.git("log", "-1", "--format=%(trailers:key=Request,valueonly)"), /^[0-9a-f]{64}$/);
});

test("a stored file in canonical form is not parsed to find that a payload differs", async () => {
	const registration = parseRegistration(new TextEncoder().encode(manual), "written").registration;
	assert.ok(registration);
	let reads = 0;
	for (const isCanonical of [true, false]) {
		const now = {
			read: async () => {
				reads += 1;
				return { registration: wms("other"), description: null };
			},
			ids: async () => ({ registration: "0".repeat(40), description: null, isCanonical }),
			keys: async () => ["23ax5t"],
		};
		const edits = await putEdits(now, "23ax5t", registration);
		assert.equal(edits, [{ path: "layers/23/23ax5t.json", text: canonicalText(registration) }]);
		assert.is(reads, isCanonical ? 0 : 1);
	}
});

test("the receipt of a layer that is stored already names its own last commit", async ({ local }) => {
	const put = async (smallkey: string, body: string) => {
		local.now += 1_000;
		return ((await (await local.put(smallkey, body)).json()) as { commit: string }).commit;
	};
	const [first, second] = [await put("one", wms("one")), await put("two", wms("two"))];
	assert.equal([await put("one", wms("one")), await put("two", wms("two"))], [first, second]);
	const third = await put("one", wms("three"));
	assert.equal([await put("two", wms("two")), await put("one", wms("three"))], [second, third]);
	await local.restart();
	assert.is(await put("two", wms("two")), second);
	const status = await local.context.status?.("two", []);
	assert.is(status instanceof Function && status("en").commit, second);
});

test("a layer whose change waits for a reviewer is not changed by another sender for review", async (scene) => {
	const { local } = scene;
	const other = parseSenders('{"other":{"key":"another secret","review":true}}', "");
	const senders = new Map([...local.context.settings.senders, ...other]);
	local.context = { ...local.context, settings: { ...local.context.settings, senders } };
	const target = "/register/23ax5t";
	assert.is((await local.write({ target, body: wms("first"), sender: "careful" })).status, 201);
	const write = { target, body: wms("second"), sender: "other", secret: "another secret" };
	const text = "a change of the sender careful waits for a reviewer: send yours once that one is";
	await refused(local, write, 409, new RegExp(`^smallkey: ${text} accepted or declined$`));
	local.now += 1_000;
	await refused(local, write, 409, /the sender careful/);
	const status = await local.context.status?.("23ax5t", []);
	const waiting = status instanceof Function ? status("en").review?.commit : null;
	assert.is(waiting, await local.git("rev-parse", "refs/heads/register/23ax5t"));
});

test("a change of type or a DELETE takes the service description along", async ({ local }) => {
	const description = '{"en":{"service_url":"https://host.example/MapServer/1"}}';
	const edits = async () => [{ path: "layers/fl/flow.service.json", text: description }];
	const meta = {
		smallkey: "flow",
		author: "test",
		time: noon,
		subject: "harvest",
		trailers: [],
		request: null,
		review: false,
	};
	for (const end of [() => local.put("flow", manual), () => local.delete("flow")]) {
		local.now += 1000;
		await local.put("flow", feature);
		await local.store.change(edits, meta);
		assert.match(await local.git("ls-tree", "-r", "--name-only", "main"), "flow.service.json");
		local.now += 1000;
		assert.ok((await end()).ok);
		assert.not.match(await local.git("ls-tree", "-r", "--name-only", "main"), "flow.service.json");
	}
});

test("smallkeys such as constructor are ordinary smallkeys", async ({ local }) => {
	for (const key of ["__proto__", "constructor", "toString", "con", "-", "=", "hasOwnProperty"]) {
		await refused(local, { target: `/register/${key}`, body: manual, sender: key }, 401, /Authorization/);
		await refused(local, { method: "DELETE", target: `/register/${key}` }, 404, /not registered/);
		assert.is(local.get(`/v0.9/doc/en/${key}`).status, 404);
		assert.is(local.get(`/v0.9/doc/${key}/toporama`).status, 400);
		assert.is((await local.put(key)).status, 201, key);
		assert.is(local.get(`/v0.9/doc/en/${key}`).status, 200);
	}
});

test("the secret that the code itself signs with for an unknown sender is no secret", async ({ local }) => {
	const write = { target: "/register/23ax5t", body: manual, sender: "unknown" };
	await refused(local, { ...write, secret: "no sender has this secret" }, 401, /^Authorization: is not/);
});

test("a timestamp is less than two minutes from the clock, to the millisecond", async ({ local }) => {
	const good = { target: "/register/23ax5t", body: manual };
	const hint = /TimeStamp: must be .* which is 2026-03-04T12:00:00.000Z/;
	for (const timestamp of [
		"2026-03-04T11:58:00Z",
		"2026-03-04T12:02:00Z",
		"2026-03-04T12:00:00+01:00",
		"yesterday",
	]) {
		await refused(local, { ...good, timestamp }, 401, hint);
	}
	for (const timestamp of [
		"2026-03-04T11:58:00.001Z",
		"2026-03-04T12:01:59.999+00:00",
		"2026-03-04T12:01:59",
	]) {
		assert.is((await local.write({ ...good, timestamp })).status, 201, timestamp);
	}
});

/** What a write asks of the cryptography while it lasts: the name and the count of bytes of each call. */
async function hashesOf(
	request: HandledWrite,
	context: Context,
): Promise<{ status: number; hashes: string[] }> {
	const calls: string[] = [];
	const { status } = await notingHashes(
		(name, bytes) => calls.push(`${name} ${bytes.length}`),
		() => handleWrite(request, context),
	);
	return { status, hashes: calls };
}

test("an unknown sender, a wrong secret and a right one cost the same hashes", async ({ local }) => {
	const body = manual;
	const sent = (sender: string, secret?: string) =>
		signedWrite({ target: "/register/23ax5t", body, sender, secret }, local.now);
	const requests = [
		await sent("jstest"),
		await sent("jstest", "wrong"),
		await sent("nobody"),
		await sent("narrow", "x"),
	];
	const costs: string[][] = [];
	for (const request of requests) costs.push((await hashesOf(request, local.context)).hashes);
	const bytes = "/register/23ax5tjstest2026-03-04T12:00:00.000Z".length + body.length;
	// Two secrets are tried: during a rotation a sender has two.
	assert.equal(costs[0], ["sha256 43", `hmacSha256 ${bytes}`, `hmacSha256 ${bytes}`]);
	assert.equal(costs, [costs[0], costs[0], costs[0], costs[0]]);
});

test("a write that is refused before its signature costs no hash", async ({ local }) => {
	const good = await signedWrite({ target: "/register/23ax5t", body: manual }, local.now);
	const junk: Partial<HandledWrite>[] = [
		{ signature: "" },
		{ signature: "x".repeat(42) },
		{ signature: `${good.signature}=` },
		{ signature: "x".repeat(60_000) },
		{ sender: "" },
		{ timestamp: "" },
		{ timestamp: "yesterday" },
		{ timestamp: new Date(local.now - 120_000).toISOString() },
		{ body: "too large" },
	];
	for (const part of junk) {
		const { status, hashes } = await hashesOf({ ...good, ...part }, local.context);
		assert.equal(hashes, [], JSON.stringify(part).slice(0, 80));
		assert.is(status, part.body ? 413 : 401);
	}
});

test("a sender that writes too much is 429 once its signature is verified, and nothing is stored", async (scene) => {
	const { local } = scene;
	const punished: string[] = [];
	local.context.limiter = {
		address: () => 0,
		punish: (address) => punished.push(address),
		sender: (id) => (id === "jstest" ? 30 : 0),
	};
	const before = await local.state();
	const answer = await local.put("23ax5t");
	assert.is(answer.status, 429);
	assert.is(answer.headers.get("Retry-After"), "30");
	assert.equal(await errorsOf(answer), ["too many writes of this sender: try again after 30 seconds"]);
	assert.is(await local.state(), before);
	const bad = await signedWrite({ target: "/register/a", body: manual, secret: "wrong" }, local.now);
	assert.is((await handleWrite({ ...bad, address: "192.0.2.1" }, local.context)).status, 401);
	assert.is((await handleWrite({ ...bad, address: null }, local.context)).status, 401);
	assert.equal(punished, ["192.0.2.1"]);
	assert.is((await local.write({ target: "/register/abc", body: manual, sender: "narrow" })).status, 201);
});

test("repeats of a captured request use up the allowance of their address, not of its sender", async (scene) => {
	const { local } = scene;
	local.context.limiter = new TokenBuckets(
		{ perMinute: 1, burst: 5, bytesPerDay: 1_000_000 },
		() => new Date(noon),
	);
	const captured = await signedWrite({ target: "/register/a", body: manual }, local.now);
	const repeat = { ...captured, address: "192.0.2.1" };
	const statuses: number[] = [];
	for (let count = 0; count < 10; count += 1) {
		statuses.push((await handleWrite(repeat, local.context)).status);
	}
	assert.equal(statuses, [...Array(5).fill(201), ...Array(5).fill(429)]);
	for (const smallkey of ["b", "c", "d", "e"]) assert.is((await local.put(smallkey)).status, 201, smallkey);
	assert.is((await local.put("f")).status, 429);
});

test("a sender may write so many bytes a day, a repeat costs none, and what is too much is not stored", async (scene) => {
	const { local } = scene;
	const limits = { perMinute: 60, burst: 100, bytesPerDay: 2.5 * Buffer.byteLength(manual) };
	local.context.limiter = new TokenBuckets(limits, () => new Date(noon));
	const first = await signedWrite({ target: "/register/a", body: manual }, local.now);
	for (let count = 0; count < 5; count += 1) assert.is((await handleWrite(first, local.context)).status, 201);
	assert.is((await local.put("b")).status, 201);
	const before = await local.state();
	const answer = await local.put("c");
	assert.is(answer.status, 429);
	assert.is(answer.headers.get("Retry-After"), String(86_400 / 5));
	assert.equal(await errorsOf(answer), [
		"too many bytes of this sender in a day: try again after 17280 seconds",
	]);
	assert.is(await local.state(), before);
	assert.is((await local.write({ target: "/register/abc", body: manual, sender: "narrow" })).status, 201);
});

test("the signature is checked before the smallkey and the payload", async ({ local }) => {
	await refused(local, { target: "/register/a.b", body: "junk", secret: "other" }, 401, /Authorization/);
});

test("a body over 64 KiB is 413, one of 64 KiB is read", async ({ local }) => {
	const pad = (bytes: number) => manual + " ".repeat(bytes - manual.length);
	const rule = "the body must have at most 65536 bytes";
	await refused(local, { target: "/register/big", body: pad(65_537) }, 413, rule);
	assert.is((await local.put("big", pad(65_536))).status, 201);
});

test("a registration that would be too large as it is stored is 400", async ({ local }) => {
	const rule = /^the document must have at most 65536 bytes in the form in which it is stored, not 72/;
	await refused(local, { target: "/register/many", body: largeWhenStored }, 400, rule);
	assert.is(local.get("/v2/doc/en/many").status, 404);
});

test("a service whose layers are not named is 400, and one of several is warned of", async ({ local }) => {
	const node = { service_type: "esriFeatureServer", service_url: "https://host.example/FeatureServer" };
	const of = (more: object) =>
		JSON.stringify({ version: "2.0", en: { ...node, ...more }, fr: { ...node, ...more } });
	for (const more of [{}, { recursive: false }])
		await refused(local, { target: "/register/none", body: of(more) }, 400, /^\/en: must name its layers/);
	const answer = await local.put("several", of({ scrape_only: [3, 4] }));
	const { warnings } = (await answer.json()) as { warnings: string[] };
	assert.is(answer.status, 201);
	for (const lang of ["en", "fr"])
		assert.ok(
			warnings.includes(
				`/${lang}/scrape_only: names several layers of a FeatureServer, which no viewer draws: register each by itself`,
			),
			warnings.join("\n"),
		);
	assert.is(textOf(local.get("/v2/docs/en/several,several")), "[null,null]");
});

test("a change for review goes to a branch, named in the receipt", async ({ local }) => {
	await local.put("k", wms("one"));
	const main = await local.git("rev-parse", "main");
	const careful = { target: "/register/k", sender: "careful" };
	const answer = await local.write({ ...careful, body: wms("two") });
	assert.is(answer.status, 201);
	const receipt = (await answer.json()) as { branch: string; published: boolean; commit: string };
	assert.is(receipt.branch, "register/k");
	assert.is(receipt.published, false);
	assert.is(await local.git("rev-parse", "main"), main);
	assert.is(await local.git("rev-parse", "register/k"), receipt.commit);
	assert.match(textOf(local.get("/v0.9/doc/en/k")), '"layerName":"one"');
	local.now += 1000;
	assert.is((await local.write({ ...careful, body: wms("three") })).status, 201);
	assert.is(await local.git("rev-list", "--count", "main..register/k"), "2");
	local.now += 1000;
	const removal = await local.write({ ...careful, method: "DELETE" });
	assert.is(removal.status, 202);
	assert.is(((await removal.json()) as { branch: string }).branch, "register/k");
	assert.is(await local.git("rev-parse", "main"), main);
});

test.run();
