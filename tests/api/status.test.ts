import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { answerStatus, routeOf } from "../../api/app.ts";
import { clientOf } from "../../api/node/address.ts";
import type { Client } from "../../api/room.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { textOf as busy } from "../../registry/texts.ts";
import { acceptReview, parseReviewer } from "../../review/decide.ts";
import type { ServiceHarvester } from "../../service/harvester/open.ts";
import { createReadStatus } from "../../service/layer-status.ts";
import { findWaiting } from "../../service/repository.ts";
import { StoreBusy } from "../../store/store.ts";
import { GitFailure } from "../../system/git/run.ts";
import { feature, Local, manual, noon, responseOf, tiles, wms } from "../helpers/local.ts";
import { eventually } from "../helpers/wait.ts";
import { freshSuite, gitIn, temporaryFolder } from "../helpers/world.ts";

type HarvestState = NonNullable<ReturnType<ServiceHarvester["stateOf"]>>;
type LastCheck = NonNullable<ReturnType<ServiceHarvester["lastCheckOf"]>>;

const test = freshSuite("status", async (use) => ({ local: use(await Local.open()) }));
test.after.each(({ local }) => assert.equal(local.reported, []));

function clientAt(address: string): Client {
	return clientOf({ socket: { remoteAddress: address }, headers: {} } as never, []).shares;
}

async function ask(local: Local, target: string, client: Client = []): Promise<Response> {
	const route = routeOf("GET", target, local.context.settings);
	if (route.kind !== "status") throw new Error(`${target} is no status`);
	const { status = null, log } = local.context;
	return responseOf(await answerStatus(route.segment, status, log, client));
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
async function statusOf(local: Local, smallkey: string): Promise<any> {
	const answer = await ask(local, `/status/${smallkey}`);
	assert.is(answer.status, 200, smallkey);
	return answer.json();
}

test("a receipt names where a registration is followed, and that says when it was and by which commit", async ({
	local,
}) => {
	const receipt = (await (await local.put("23ax5t")).json()) as { status: string; commit: string };
	assert.is(receipt.status, "/status/23ax5t");
	const answer = await ask(local, `${receipt.status}?x=1`);
	assert.is(answer.headers.get("Access-Control-Allow-Origin"), "*");
	assert.is(answer.headers.get("Cache-Control"), "no-store");
	assert.match(answer.headers.get("Content-Type") ?? "", /^application\/json/);
	assert.equal(await answer.json(), {
		smallkey: "23ax5t",
		registered: "2026-03-04T12:00:00Z",
		commit: receipt.commit,
		review: null,
		declined: null,
		harvest: { state: "off" },
		health: { state: "unknown" },
	});
	local.now += 60_000;
	await local.put("other");
	local.now += 60_000;
	const second = (await (await local.put("23ax5t", wms("other"))).json()) as { commit: string };
	local.now += 60_000;
	const third = (await (await local.put("23ax5t", manual)).json()) as { commit: string };
	const status = await statusOf(local, "23ax5t");
	assert.equal([status.commit, status.registered], [third.commit, "2026-03-04T12:03:00Z"]);
	assert.is.not(second.commit, third.commit);
	assert.equal(await statusOf(local, "%323ax5t"), status, "percent-encoded");
});

test("a change that waits for a reviewer is there, and no one's id", async ({ local }) => {
	const body = { target: "/register/fresh", body: manual, sender: "careful" };
	const { commit } = (await (await local.write(body)).json()) as { commit: string };
	const review = { branch: "register/fresh", commit, since: "2026-03-04T12:00:00Z" };
	const status = await statusOf(local, "fresh");
	assert.equal([status.registered, status.commit, status.review], [null, null, review]);
	assert.not.match(JSON.stringify(status), /careful/);
	await local.put("known");
	local.now += 1_000;
	await local.write({ ...body, target: "/register/known", body: wms("other") });
	const known = await statusOf(local, "known");
	assert.is(known.registered, "2026-03-04T12:00:00Z");
	assert.is(known.review.branch, "register/known");
	await local.git("update-ref", "refs/heads/main", known.review.commit);
	assert.is((await statusOf(local, "known")).review, null, "once it is merged");
});

test("after an accepted review it names the merge, and when that was", async ({ local }) => {
	await local.put("merged");
	local.now += 1_000;
	await local.write({ target: "/register/merged", body: wms("other"), sender: "careful" });
	const waiting = await findWaiting(local.repository, "register/merged");
	const commit = await acceptReview(local.repository, waiting, parseReviewer("Ann"));
	await eventually(() => local.store.tip === commit);
	const status = await statusOf(local, "merged");
	assert.equal([status.commit, status.review], [commit, null]);
	const seconds = Number(await local.git("show", "-s", "--format=%ct", commit));
	assert.is(Date.parse(status.registered), seconds * 1_000);
});

test("an impossible smallkey, or one that is not registered, is refused with its reason", async ({
	local,
}) => {
	const none = await ask(local, "/status/none");
	assert.is(none.status, 404);
	assert.equal(await none.json(), { errors: ["smallkey: none is not registered"] });
	for (const bad of ["a.b", "", "%zz", "a%2Fb"]) {
		const answer = await ask(local, `/status/${bad}`);
		assert.is(answer.status, 400, bad);
		assert.match(
			((await answer.json()) as { errors: string[] }).errors[0] ?? "",
			/^smallkey: must be 1 to 64/,
		);
	}
	await local.put("gone");
	local.now += 1_000;
	await local.delete("gone");
	assert.is((await ask(local, "/status/gone")).status, 404);
});

test("where the layers are elsewhere the catalogue is named", async ({ local }) => {
	delete local.context.status;
	assert.is((await ask(local, "/status/a")).status, 404);
	const receipt = (await (await local.put("a")).json()) as { status?: string };
	assert.not("status" in receipt);
	local.context.settings = { ...local.context.settings, publicUrl: "https://layers.example/rcs/" };
	local.now += 1_000;
	const other = (await (await local.put("b+c")).json()) as { status: string };
	assert.is(other.status, "https://layers.example/rcs/?layer=b%2Bc");
});

test("a history that cannot be read is a fault, and no layer without a commit", async ({ local }) => {
	await local.put("roads");
	await using folder = await temporaryFolder();
	const repository = folder.path;
	const git = gitIn(repository);
	await git("init", "-q", "--bare", "--initial-branch=main", ".");
	// The commit before the newest one is gone.
	await writeFile(join(repository, "tree"), "");
	const tree = await git("hash-object", "-t", "tree", "-w", "tree");
	const person = "x <x@example.org> 1772625600 +0000";
	const parent = "1".repeat(40);
	await writeFile(
		join(repository, "commit"),
		`tree ${tree}\nparent ${parent}\nauthor ${person}\ncommitter ${person}\n\nx\n`,
	);
	await git("update-ref", "refs/heads/main", await git("hash-object", "-t", "commit", "-w", "commit"));
	const statuses = createReadStatus({ repository, store: local.store, has: () => true, harvester: null });
	const error = await statuses("roads", []).catch((reason: Error) => reason);
	assert.instance(error, GitFailure, JSON.stringify(error));
	assert.match(String(error), parent);
});

test("harvest and health are what the harvester knows, in the publisher's words", async ({ local }) => {
	let state: HarvestState | null = null;
	let lastCheck: LastCheck | null = null;
	const harvester = { stateOf: () => state, lastCheckOf: () => lastCheck };
	const { repository, store } = local;
	const statuses = createReadStatus({ repository, store, has: () => true, harvester });
	await local.put("wells", feature);
	await local.put("roads", tiles);
	const read = async (smallkey = "wells", lang: Lang = "en") => {
		const status = await statuses(smallkey, []);
		if (status === "too many") throw new Error(status);
		const { harvest, health } = status?.(lang) ?? {};
		return [harvest, health] as const;
	};
	assert.equal(await read(), [{ state: "waiting" }, { state: "unknown" }]);
	assert.equal(await read("roads"), [{ state: "none" }, { state: "unknown" }]);
	const [en, fr] = ["/en/service_url: answers 404", "/en/service_url: répond 404"] as const;
	const findings = [{ en, fr }];
	state = { state: "failed", at: noon, findings, nextTry: noon + 60_000 };
	lastCheck = { state: "down", at: noon, findings };
	const at = "2026-03-04T12:00:00Z";
	assert.equal(await read(), [
		{ state: "failed", at, findings: [en], next_try: "2026-03-04T12:01:00Z" },
		{ state: "down", at, findings: [en] },
	]);
	const inFrench = await read("wells", "fr");
	assert.equal(
		inFrench.map((part) => part?.findings),
		[[fr], [fr]],
	);
	const reply = await answerStatus("wells", statuses, local.context.log);
	assert.match(new TextDecoder().decode(reply.bodyIn?.("fr")), `"findings":["${fr}"]`);
	const path = "layers/health.json";
	const health = '{"sick":{"wells":{"state":"down","since":"2026-W09"}}}';
	await local.store.change(async () => [{ path, text: health }], {
		smallkey: null,
		author: "x",
		time: noon,
		subject: "x",
		trailers: [],
		request: null,
		review: false,
	});
	assert.is((await read())[1]?.since, "2026-W09");
	lastCheck = null;
	assert.equal((await read())[1], { state: "down", since: "2026-W09" });
	lastCheck = { state: null, at: noon, findings: [] };
	state = { state: "done", at: noon, findings: [], nextTry: noon };
	assert.equal(await read(), [
		{ state: "done", at, findings: [], next_try: at },
		{ state: "well", at, findings: [] },
	]);
});

/** Look-ups of one layer, `a`, that end as failures, without a process of git each, once `end` is called. */
function heldStatuses(local: Local) {
	let end = () => {};
	const held = new Promise<void>((resolve) => {
		end = resolve;
	});
	const read = () => held.then(() => Promise.reject(new StoreBusy(busy("slow"), 7)));
	const has = (smallkey: string) => smallkey === "a";
	local.context.status = createReadStatus({
		repository: local.repository,
		...{ store: { read }, has, harvester: null },
	});
	/** So many look-ups at once: the answers so far, each as its status and its `Retry-After`, and their end. */
	const flood = (count: number, target: string, client: Client = []) => {
		const answers: string[] = [];
		const looks = Array.from({ length: count }, async () => {
			const { status, headers } = await ask(local, target, client);
			answers.push(`${status} ${headers.get("Retry-After")}`);
		});
		return { answers, ended: Promise.all(looks) };
	};
	return { end, flood };
}

test("with too many requests at once some get Retry-After, and what does not exist is 404 all the same", async ({
	local,
}) => {
	const { end, flood } = heldStatuses(local);
	const many = flood(110, "/status/a");
	const absent = flood(500, "/status/none");
	await absent.ended;
	assert.equal(absent.answers, Array(500).fill("404 null"));
	await eventually(() => many.answers.length >= 10);
	end();
	await many.ended;
	assert.equal(many.answers.sort(), [...Array(10).fill("503 2"), ...Array(100).fill("503 7")]);
});

test("ten addresses and a network of 48 bits that ask for too many at once leave room for a publisher", async ({
	local,
}) => {
	const { end, flood } = heldStatuses(local);
	const addresses = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`);
	for (let index = 0; index < 50; index += 1) addresses.push(`2001:db8:1:${index}::1`);
	const floods = addresses.map((address) => flood(20, "/status/a", clientAt(address)));
	const publisher = flood(1, "/status/a", clientAt("198.51.100.1"));
	await eventually(() => floods[0]?.answers.includes("429 2") === true);
	const refused = await ask(local, "/status/a", clientAt("192.0.2.0"));
	assert.equal(await refused.json(), {
		errors: ["this address asks for the status of too many layers at once"],
	});
	end();
	await Promise.all([publisher, ...floods].map(({ ended }) => ended));
	assert.equal(publisher.answers, ["503 7"], "it was looked up");
	const later = flood(1, "/status/a", clientAt("192.0.2.0"));
	await later.ended;
	assert.equal(later.answers, ["503 7"], "later");
});

test.run();
