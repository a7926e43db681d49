import { test } from "uvu";
import * as assert from "uvu/assert";
import type { Ask } from "../../../harvest/net/ask.ts";
import { limitRequests } from "../../../harvest/repair/run.ts";

test("layers share the answers of a service, which is asked 200 times a day at most", async () => {
	const asked: string[] = [];
	const ask: Ask = async (address) => {
		asked.push(address);
		return { ok: true, bytes: new Uint8Array(), type: "" };
	};
	const limited = limitRequests({ ask, fetch: async () => new Response() });
	const first = await limited.ask("http://a.example/1");
	assert.is(await limited.ask("http://a.example/1"), first);
	assert.equal(asked, ["http://a.example/1"]);
	for (let number = 2; number < 200; number += 1) await limited.ask(`http://a.example/${number}`);
	assert.ok((await limited.fetch("http://a.example/redirect")).ok);
	const refused = await limited.ask("http://a.example/200");
	assert.not(refused.ok);
	assert.is(asked.length, 199);
	await limited.fetch("http://a.example/redirect").then(
		() => assert.unreachable(),
		(error) => assert.is(error.message, "was asked often enough for one day"),
	);
	assert.ok((await limited.ask("http://b.example/")).ok);
});

test.run();
