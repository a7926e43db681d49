import * as assert from "uvu/assert";
import { Handlers, manual, type Requests, type Write, wms } from "../helpers/handlers.ts";
import { Local } from "../helpers/local.ts";
import { freshSuite, sharedSuite } from "../helpers/world.ts";

type Service = Requests & { state(): Promise<string>; restart?: () => Promise<void> };

function capture({ now }: Service, write: Omit<Write, "timestamp">): Write {
	return { ...write, timestamp: new Date(now).toISOString() };
}

async function expect(service: Service, write: Write, status: number, text = ""): Promise<Response> {
	const before = await service.state();
	const answer = await service.write(write);
	assert.is(answer.status, status, `${text}: ${await answer.clone().text()}`);
	if (status >= 400) assert.is(await service.state(), before, text);
	return answer;
}

type Row = [
	name: string,
	first: (key: string) => [before: string | null, write: Omit<Write, "timestamp">, status: number],
	later: (key: string, service: Service) => Promise<unknown>,
	again: { method?: string; status: number },
];

const at = (key: string) => `/register/${key}`;
const put = (key: string, service: Service) => service.put(key, wms("later"));

const rows: readonly Row[] = [
	["a PUT", (key) => [null, { target: at(key), body: manual }, 201], put, { status: 401 }],
	[
		"a PUT that changed nothing",
		(key) => [key, { target: at(key), body: manual }, 201],
		put,
		{ status: 401 },
	],
	["a DELETE", (key) => [key, { target: at(key), method: "DELETE" }, 204], put, { status: 401 }],
	[
		"a DELETE that was 404",
		(key) => [null, { target: at(key), method: "DELETE" }, 404],
		put,
		{ status: 401 },
	],
	[
		"a PUT that was 409",
		(key) => [key.toUpperCase(), { target: at(key), body: manual }, 409],
		(key, service) => service.delete(key.toUpperCase()),
		{ status: 401 },
	],
	[
		"an empty PUT, sent again as a DELETE",
		(key) => [key, { target: at(key) }, 400],
		async () => undefined,
		{ method: "DELETE", status: 401 },
	],
	[
		"a DELETE with a body, sent again as a PUT",
		(key) => [null, { target: at(key), method: "DELETE", body: manual }, 400],
		async () => undefined,
		{ method: "PUT", status: 401 },
	],
	[
		"a PUT that was 403",
		(key) => [null, { target: at(key), body: manual, sender: "narrow" }, 403],
		async (_key, { context }) => {
			const narrow = context.settings.senders.get("narrow");
			const widened = narrow && { ...narrow, smallkeys: null };
			context.settings = { ...context.settings, senders: new Map([["narrow", widened as never]]) };
		},
		{ status: 401 },
	],
];

async function replay(service: Service, key: string, [name, first, later, again]: Row): Promise<void> {
	const [before, write, status] = first(key);
	if (before !== null) await service.put(before);
	service.now += 1_000;
	const captured = capture(service, write);
	const answer = await expect(service, captured, status, name);
	await service.restart?.();
	const repeated = await expect(service, captured, status, `${name}, at once`);
	if (status === 201) {
		const [one, other] = [await answer.json(), await repeated.json()];
		assert.equal(other, { ...one, changed: false });
	}
	service.now += 1_000;
	await later(key, service);
	await service.restart?.();
	const { method = captured.method, status: last } = again;
	await expect(service, { ...captured, ...(method && { method }) }, last, `${name}, later`);
}

const inMemory = freshSuite("used signatures", () => ({ handlers: new Handlers() }));

for (const row of rows)
	inMemory(`${row[0]} does not take effect again`, ({ handlers }) => replay(handlers, "k", row));

inMemory("the same DELETE twice at once: both answers say that the layer is gone", async ({ handlers }) => {
	await handlers.put("k");
	handlers.now += 1_000;
	const remove = capture(handlers, { method: "DELETE", target: "/register/k" });
	const answers = await Promise.all([handlers.write(remove), handlers.write(remove)]);
	assert.equal(
		answers.map(({ status }) => status),
		[204, 204],
	);
	assert.is(handlers.store.commits.length, 2);
});

const onDisk = sharedSuite("used signatures, after restarts", async (use) => ({
	local: use(await Local.open()),
}));

onDisk("no request of these takes effect again", async ({ local }) => {
	for (const [index, row] of rows.slice(0, -1).entries()) await replay(local, `row${index}`, row);
});

inMemory.run();
onDisk.run();
