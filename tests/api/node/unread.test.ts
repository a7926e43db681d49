import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { Pages } from "../../../api/catalogue-requests.ts";
import { folderPages } from "../../../api/node/pages.ts";
import { eventually } from "../../helpers/wait.ts";
import { temporaryFolder } from "../../helpers/world.ts";
import { pageSettings, serverSuite, TestServer } from "./node-server.ts";

const test = serverSuite("answers that are not read");

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`;
const megabyte = 1_000_000;

/** A server of pages that are all the same bytes, and how many were asked for. */
async function startPages(bytes: number) {
	const asked: string[] = [];
	const body = Buffer.alloc(bytes, "x");
	const pages: Pages = async (wanted) => {
		asked.push(wanted.kind === "page" ? wanted.file : wanted.path);
		return { status: 200, headers: {}, body };
	};
	const server = await TestServer.start({ pages, context: { settings: pageSettings } });
	return { server, asked };
}

/** What other requests are answered meanwhile is read: in that time the server does all that it can do. */
async function someTime(server: TestServer): Promise<void> {
	for (let round = 0; round < 50; round += 1) assert.is((await fetch(`${server.url}/healthz`)).status, 200);
}

test("a page is built only after the client has read the pages before it on the connection", async () => {
	const { server, asked } = await startPages(16 * megabyte);
	const reader = server.connect();
	reader.socket.pause();
	const pages = Array.from({ length: 12 }, (_, index) => `assets/${index}.js`);
	reader.send(pages.map((page) => get(`/${page}`)).join(""));
	await eventually(() => asked.length > 0);
	await someTime(server);
	// The operating system takes less than one of them.
	assert.equal(asked, pages.slice(0, 1));
	let bytes = 0;
	reader.socket.removeAllListeners("data").on("data", (data) => {
		bytes += data.length;
	});
	reader.socket.resume();
	await eventually(() => bytes > 12 * 16 * megabyte);
	assert.equal(asked, pages, "all of them, in their order");
});

test("a list of fragments is not put together while its client does not read", async () => {
	const asked = new Set<string>();
	const body = Buffer.alloc(200_000, "1");
	const fragments = (_target: string, _lang: string, smallkey: string) => {
		asked.add(smallkey);
		return { body, etag: `"${smallkey}"` };
	};
	const server = await TestServer.start({ fragments });
	const reader = server.connect();
	reader.socket.pause();
	for (let list = 0; list < 400; list += 1) reader.send(get(`/v0.9/docs/en/k${list},a,a,a`));
	await eventually(() => asked.size > 1);
	await someTime(server);
	assert.ok(asked.size < 100, `${asked.size} of 400 lists, of 800 kB each`);
});

test("a file is in memory once, however many requests for it wait for their readers", async () => {
	await using folder = await temporaryFolder();
	await writeFile(join(folder.path, "site.json"), Buffer.alloc(2 * megabyte, "x"));
	const server = await TestServer.start({
		pages: folderPages(folder.path, false),
		context: { settings: pageSettings },
	});
	const before = process.memoryUsage().arrayBuffers;
	const readers = Array.from({ length: 10 }, () => server.connect());
	for (const { socket } of readers) socket.pause();
	for (const reader of readers) reader.send(get("/site.json").repeat(50));
	let most = 0;
	for (let round = 0; round < 20; round += 1) {
		await someTime(server);
		most = Math.max(most, process.memoryUsage().arrayBuffers - before);
	}
	// A gigabyte where each request has its own.
	assert.ok(most < 150 * megabyte, `${most} bytes`);
});

test("beyond a bound of unread answers the oldest connection is closed, and others are served", async () => {
	const { server, asked } = await startPages(64 * megabyte);
	const readers = [];
	for (let count = 1; count <= 6; count += 1) {
		const reader = server.connect();
		reader.socket.pause();
		reader.send(get("/site.json"));
		readers.push(reader);
		await eventually(() => asked.length === count);
		await someTime(server);
	}
	const [oldest, , , , , newest] = readers;
	await eventually(() => {
		// A paused socket learns of its end only by sending.
		oldest?.send(get("/healthz"));
		return oldest?.socket.destroyed === true;
	});
	newest?.send(get("/healthz"));
	await someTime(server);
	assert.not.ok(newest?.socket.destroyed);
});

test.run();
