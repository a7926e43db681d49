import * as assert from "uvu/assert";
import { canonicalText, parseRegistration } from "../../registry/registration.ts";
import { blobId } from "../../store/hashes.ts";
import { feature, Handlers, manual, type Write, wms } from "../helpers/handlers.ts";
import { freshSuite } from "../helpers/world.ts";

const test = freshSuite("writes with a condition", () => ({ handlers: new Handlers() }));

const target = "/register/k";

async function tagOf(text: string): Promise<string> {
	const { registration } = parseRegistration(new TextEncoder().encode(text), "written");
	assert.ok(registration);
	return `"${await blobId(canonicalText(registration))}"`;
}

const etagOf = (answer: Response) => answer.headers.get("ETag");

test("a receipt has the ETag of the registration that is stored", async ({ handlers }) => {
	const first = await handlers.expect(201, { target, body: wms("one") });
	assert.is(etagOf(first), await tagOf(wms("one")));
	const again = await handlers.expect(201, { target, body: JSON.stringify(JSON.parse(wms("one")), null, 3) });
	assert.is(etagOf(again), etagOf(first));
	await handlers.commit({ path: "layers/k/k.service.json", text: "{}" });
	handlers.now += 1_000;
	assert.is(etagOf(await handlers.put("k", wms("one"))), etagOf(first), "a harvest does not alter it");
	await handlers.commit({ path: "layers/k/k.json", text: manual });
	handlers.now += 1_000;
	assert.is(etagOf(await handlers.put("k")), `"${await blobId(manual)}"`, "of the file as it is spelt");
	assert.is(etagOf(await handlers.expect(204, { method: "DELETE", target })), null);
	const review = await handlers.expect(201, { target, body: wms("two"), sender: "careful" });
	assert.is(etagOf(review), await tagOf(wms("two")));
});

test("a condition that does not hold is 412, and nothing is stored", async ({ handlers }) => {
	const tag = (await tagOf(wms("one"))) as string;
	const none = await tagOf(wms("none"));
	const send = (headers: Record<string, string>, write: Partial<Write> = {}) => {
		handlers.now += 1_000;
		return { target, body: wms("two"), headers, ...write };
	};
	const refuses = (status: number, headers: Record<string, string>, text: string, write?: Partial<Write>) =>
		handlers.refuses(status, send(headers, write), text);
	const removal = { method: "DELETE", body: "" };
	await refuses(412, { "If-Match": "*" }, "If-Match: is *, and the ETag of k is nothing");
	await refuses(404, { "If-Match": none }, "smallkey: k is not registered", removal);
	await handlers.expect(201, send({ "If-None-Match": "*" }, { body: wms("one") }));
	const rest = `and the ETag of k is ${tag}`;
	for (const write of [{}, { body: wms("one") }, removal, { sender: "careful" }]) {
		await refuses(412, { "If-Match": none }, `If-Match: is ${none}, ${rest}`, write);
		for (const text of ["*", tag, `W/${tag}`])
			await refuses(412, { "If-None-Match": text }, `If-None-Match: is ${text}, ${rest}`, write);
	}
	const unquoted = tag.replaceAll('"', "");
	await refuses(412, { "If-Match": unquoted }, `If-Match: is ${unquoted}, ${rest}`);
	await refuses(412, { "If-Match": tag, "If-None-Match": tag }, `If-None-Match: is ${tag}, ${rest}`);
	await refuses(400, { "If-Match": none }, "/version: is missing", { body: "{}" });
	await handlers.expect(201, send({ "If-Match": `${none}, W/${tag}`, "If-None-Match": none }));
	await handlers.expect(412, send({ "If-Match": tag }, removal));
	await handlers.expect(204, send({ "If-Match": await tagOf(wms("two")) }, removal));
});

test("an update has conditions and an ETag, too", async ({ handlers }) => {
	await handlers.put("k", feature);
	const write = { target: "/v2/update/k", body: '{"en":{"service_name":"Lakes"}}' };
	const tag = await tagOf(feature);
	await handlers.expect(412, { ...write, headers: { "If-Match": await tagOf(manual) } });
	handlers.now += 1_000;
	const answer = await handlers.expect(200, { ...write, headers: { "If-Match": tag } });
	assert.is(etagOf(answer), await tagOf(JSON.stringify(handlers.stored("k"))));
});

test("a request that is sent again gets its answer, unless it was refused", async ({ handlers }) => {
	await handlers.put("k", wms("one"));
	handlers.now += 1_000;
	const timestamp = new Date(handlers.now).toISOString();
	const change = { target, body: wms("two"), timestamp, headers: { "If-Match": await tagOf(wms("one")) } };
	const send = async () => {
		const answer = await handlers.expect(201, change);
		return [((await answer.json()) as { commit: string }).commit, etagOf(answer)];
	};
	const first = await send();
	assert.equal([first[1], await send()], [await tagOf(wms("two")), first]);
	handlers.now += 1_000;
	await handlers.put("k", wms("three"));
	await handlers.expect(412, change);
	const refused = { ...change, timestamp: new Date(handlers.now + 1_000).toISOString() };
	await handlers.expect(412, refused);
	await handlers.put("k", wms("two"));
	await handlers.expect(412, refused);
	// A clock of whole seconds would sign the same again.
	await handlers.refuses(401, { ...refused, headers: {} }, /sign with a new TimeStamp$/);
});

test.run();
