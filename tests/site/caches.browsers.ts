import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import * as assert from "uvu/assert";
import { Handlers, wms } from "../helpers/handlers.ts";
import { suite } from "../helpers/suite.ts";
import { eventually } from "../helpers/wait.ts";
import { openBrowser, openWindow, runInBrowser } from "./browser.ts";

/** The service behind a cache that says how old its answers are, so that no test has to wait. */
interface Scene {
	local: Handlers;
	server: Server;
	/** Seconds since the answer left the service, of the next answers. */
	age: number;
	asked: string[];
	browser: Browser;
	page: Page;
	/** What a page gets now: the names of the layers, null for one that is not there. */
	look: (keys: string) => Promise<(string | null)[]>;
}

const test = suite<Scene>("a browser's cache");

test.before(async (scene) => {
	scene.browser = await openBrowser();
});
test.before.each(async (scene) => {
	const local = new Handlers();
	scene.local = local;
	scene.asked = [];
	scene.age = 0;
	scene.server = createServer((request, response) => {
		const path = request.url ?? "/";
		if (path === "/" || path === "/favicon.ico") return void response.end("<title>page</title>");
		scene.asked.push(path);
		const { status, headers, body } = local.get(path, request.headers["if-none-match"] ?? null);
		response.writeHead(status, { ...headers, Age: String(scene.age) });
		response.end(body instanceof Uint8Array ? body : Buffer.concat([...body]));
	});
	await once(scene.server.listen(0, "127.0.0.1"), "listening");
	const address = `http://127.0.0.1:${(scene.server.address() as AddressInfo).port}`;
	const { page } = await openWindow(scene.browser);
	scene.page = page;
	await page.goto(`${address}/`);
	scene.look = async (keys) => {
		const elements = await page.evaluate(async (path) => (await fetch(path)).json(), `/v2/docs/en/${keys}`);
		return (elements as ({ layers: { name: string }[] } | null)[]).map((one) => one?.layers[0]?.name ?? null);
	};
});
test.after.each(async ({ server, page }) => {
	await page.context().close();
	server.closeAllConnections();
	server.close();
});
test.after(({ browser }) => browser.close());

test("a layer that was missing is there at the next look after 5 s", async (scene) => {
	const { local, look, asked } = scene;
	await local.put("old", wms("old"));
	scene.age = 5;
	assert.equal(await look("old,new"), ["old", null]);
	await local.put("new", wms("new"));
	assert.equal(await look("old,new"), ["old", "new"]);
	assert.is(asked.length, 2);
});

test("a changed layer is there after a minute: at once after two, else at the second look", async (scene) => {
	const { local, look, asked } = scene;
	await local.put("one", wms("first"));
	assert.equal(await look("one"), ["first"]);
	await local.put("one", wms("second"));
	assert.equal(await look("one"), ["first"], "in the first minute the browser asks nothing");
	assert.is(asked.length, 1);
	scene.age = 61;
	assert.equal(await look("one,one"), ["second", "second"]);
	await local.put("one", wms("third"));
	scene.age = 0;
	assert.equal(await look("one,one"), ["second", "second"], "the older answer while the browser asks");
	await eventually(() => asked.length === 3);
	await eventually(async () => (await look("one,one"))[0] === "third");
	scene.age = 120;
	assert.equal(await look("one,one,one"), ["third", "third", "third"]);
	await local.put("one", wms("fourth"));
	assert.equal(await look("one,one,one"), ["fourth", "fourth", "fourth"]);
});

runInBrowser(test);
