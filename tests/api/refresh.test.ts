import * as assert from "uvu/assert";
import type { Refresh } from "../../api/context.ts";
import { Local, manual, type Write } from "../helpers/local.ts";
import { freshSuite, words } from "../helpers/world.ts";

const test = freshSuite("refresh", async (use) => {
	const local = use(await Local.open());
	const asked: Refresh[] = [];
	local.context.refresh = (refresh) => {
		asked.push(refresh);
		return 3;
	};
	return { local, asked };
});
test.after.each(({ local }) => assert.equal(local.reported, []));

function post(local: Local, target: string, more: Partial<Write> = {}): Promise<Response> {
	local.now += 1000;
	return local.write({ method: "POST", target, ...more });
}

const day = 86_400_000;

test("all, a number of days and a limit ask the harvester: 202", async ({ local, asked }) => {
	const table: [target: string, olderThanMs: number | null, maxLayers: number | null][] = [
		["/v1/update/all", null, null],
		["/v1/update/7", 7 * day, null],
		["/v1/update/0", 0, null],
		["/v2/refresh/all", null, null],
		["/v2/refresh/30", 30 * day, null],
		["/v2/refresh/all/100", null, 100],
		["/v2/refresh/2/1", 2 * day, 1],
	];
	const before = await local.state();
	for (const [target, olderThanMs, maxLayers] of table) {
		const answer = await post(local, target);
		assert.is(answer.status, 202, target);
		assert.equal(await answer.json(), { layers: 3 });
		const { isWanted, ...refresh } = asked.at(-1) as Refresh;
		assert.equal(refresh, { olderThanMs, maxLayers }, target);
		assert.ok(isWanted("anything"));
	}
	assert.is(asked.length, table.length);
	assert.is(await local.state(), before, "no commit");
});

test("a sender has its own layers asked for", async ({ local, asked }) => {
	assert.is((await post(local, "/v1/update/all", { sender: "narrow" })).status, 202);
	const isWanted = asked[0]?.isWanted;
	assert.ok(isWanted?.("abc"));
	assert.not(isWanted?.("other"));
});

test("another argument, or a body, is 400, and no service is asked", async ({ local, asked }) => {
	for (const target of words(`
		/v1/update/ /v1/update/ALL /v1/update/-1 /v1/update/1.5 /v1/update/123456 /v1/update/7d
		/v2/refresh/all/0 /v2/refresh/all/x /v2/refresh/7/
	`)) {
		const answer = await post(local, target);
		assert.is(answer.status, 400, target);
		const { errors } = (await answer.json()) as { errors: string[] };
		assert.match(errors[0] ?? "", /^path: must end with all or a number of days/);
	}
	const answer = await post(local, "/v1/update/all", { body: manual });
	assert.is(answer.status, 400);
	assert.equal(await answer.json(), { errors: ["the body must be empty"] });
	assert.is((await post(local, "/v1/update/all", { secret: "wrong" })).status, 401);
	assert.equal(asked, []);
});

test("the same request again, after a restart as well, asks no service again", async ({ local, asked }) => {
	const once = { target: "/v1/update/all", method: "POST", timestamp: new Date(local.now).toISOString() };
	assert.is((await local.write(once)).status, 202);
	local.now += 1000;
	const again = await local.write(once);
	assert.is(again.status, 202);
	assert.equal(await again.json(), { layers: 0 });
	const { refresh } = local.context;
	await local.restart();
	Object.assign(local.context, { refresh });
	assert.equal(await (await local.write(once)).json(), { layers: 0 });
	assert.is(asked.length, 1);
});

test("a service that does not harvest says so: 409", async ({ local }) => {
	delete local.context.refresh;
	const answer = await post(local, "/v2/refresh/all");
	assert.is(answer.status, 409);
	assert.match(
		((await answer.json()) as { errors: string[] }).errors[0] ?? "",
		/^this service does not harvest/,
	);
	assert.is((await post(local, "/v2/refresh/never")).status, 400, "what is wrong comes first");
});

test.run();
