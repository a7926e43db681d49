import * as assert from "uvu/assert";
import { limitRequests } from "../../../harvest/repair/run.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { always, MemoryWorld, redirect } from "./world.ts";

const test = sharedSuite("limits of a repair", async () => ({ server: new MemoryWorld() }));

const often = "was asked often enough for one day";

test("layers share the answers of a service, which is asked 200 times a day at most", async ({ server }) => {
	server.enter({ "http://a.example": always({ body: "a" }), "http://b.example": always({ body: "b" }) });
	const limited = limitRequests(server.createClients, new Map([["a.example", 197]]));
	const first = await limited.ask("http://a.example/1");
	assert.is(await limited.ask("http://a.example/1"), first);
	assert.equal(server.asked, ["http://a.example/1"]);
	await limited.ask("http://a.example/2");
	assert.ok((await limited.fetch("http://a.example/redirect")).ok);
	const refused = await limited.ask("http://a.example/200");
	assert.is(refused.ok || refused.message, often);
	assert.is(server.asked.length, 3);
	await limited.fetch("http://a.example/redirect").then(
		() => assert.unreachable(),
		(error) => assert.is(error.message, often),
	);
	assert.ok((await limited.ask("http://b.example/")).ok);
});

test("a request that follows a redirect is one of the host to which it leads, whatever its port", async (scene) => {
	const { server } = scene;
	server.enter({
		"http://a.example": redirect(302, "http://third.example{path}"),
		"http://b.example": redirect(302, "http://third.example:8080{path}"),
		"http://third.example": always({ body: "third" }),
		"http://third.example:8080": always({ body: "third" }),
	});
	const counts = new Map([["third.example", 198]]);
	const limited = limitRequests(server.createClients, counts);
	assert.ok((await limited.ask("http://a.example/1")).ok);
	assert.ok((await limited.fetch("http://b.example/2")).ok);
	const refused = await limited.ask("http://a.example/3");
	assert.is(refused.ok || refused.message, often);
	const third = server.asked.filter((address) => address.includes("third"));
	assert.equal(third, ["http://third.example/1", "http://third.example:8080/2"]);
	assert.equal(
		[...counts],
		[
			["third.example", 200],
			["a.example", 2],
			["b.example", 1],
		],
	);
});

test.run();
