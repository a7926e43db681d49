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
	first: (key: string) => [before: string | null, write: Omit<Write, "timestamp" | "target">, status: number],
	later: (key: string, service: Service) => Promise<unknown>,
	/** Of the request that is sent again. */
	method?: string,
];

const put = (key: string, service: Service) => service.put(key, wms("later"));
const nothing = async () => undefined;
const removal = { method: "DELETE" };

const rows: readonly Row[] = [
	["a PUT", () => [null, { body: manual }, 201], put],
	["a PUT that changed nothing", (key) => [key, { body: manual }, 201], put],
	["a DELETE", (key) => [key, removal, 204], put],
	["a DELETE that was 404", () => [null, removal, 404], put],
	[
		"a PUT that was 409",
		(key) => [key.toUpperCase(), { body: manual }, 409],
		(key, service) => service.delete(key.toUpperCase()),
	],
	["an empty PUT, sent again as a DELETE", (key) => [key, {}, 400], nothing, "DELETE"],
	[
		"a DELETE with a body, sent again as a PUT",
		() => [null, { ...removal, body: manual }, 400],
		nothing,
		"PUT",
	],
	[
		"a PUT that was 403",
		() => [null, { body: manual, sender: "narrow" }, 403],
		async (_key, { context }) => {
			const narrow = context.settings.senders.get("narrow");
			const widened = narrow && { ...narrow, smallkeys: null };
			context.settings = { ...context.settings, senders: new Map([["narrow", widened as never]]) };
		},
	],
];

async function replay(service: Service, key: string, [name, first, later, method]: Row): Promise<void> {
	const [before, write, status] = first(key);
	if (before !== null) await service.put(before);
	service.now += 1_000;
	const captured = capture(service, { target: `/register/${key}`, ...write });
	const answer = await expect(service, captured, status, name);
	await service.restart?.();
	const repeated = await expect(service, captured, status, `${name}, at once`);
	if (status === 201) {
		const [first, again] = [await answer.json(), await repeated.json()];
		assert.equal(again, { ...first, changed: false });
	}
	service.now += 1_000;
	await later(key, service);
	await service.restart?.();
	await expect(service, { ...captured, ...(method && { method }) }, 401, `${name}, later`);
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
