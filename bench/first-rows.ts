import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { answerPage, parsePage } from "../api/pages.ts";
import { Index } from "../catalogue/chunks.ts";
import { buildPages } from "../catalogue/pages.ts";
import { needBrowser, openBrowser } from "../prove/browser.ts";
import { fragmentSettings } from "../publish/slots.ts";
import { plainSettings } from "../site/page/settings.ts";
import { generateEntries } from "./entries.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Slow 3G as a browser emulates it: bytes a second in each direction, and milliseconds before each answer. */
const slow = { offline: false, downloadThroughput: 50_000, uploadThroughput: 50_000, latency: 400 };
/** Within which first rows are there, in seconds. */
const limit = 6;

/** The files of a catalogue, and what they weigh on the way. */
async function siteFiles(layers: number): Promise<Map<string, Buffer>> {
	const fragments = fragmentSettings({ metadataUrl: "", catalogueUrl: "" });
	const more = {
		publicUrl: "",
		site: plainSettings,
		version: "0",
		senderNames: {},
		isCompressed: false,
		pictures: null,
	};
	const { files } = await buildPages({ fragments, ...more, isServed: true });
	const entries = new Map([...generateEntries(layers)].map((entry) => [entry.smallkey, entry]));
	const index = new Index(null).change(entries, "a".repeat(40));
	const all = [...files, ...index.files].filter(([, content]) => content !== null);
	return new Map(all.map(([path, content]) => [path, gzipSync(content ?? "")]));
}

/** Runs in the page: notes when it has a row, in milliseconds since it was asked for. */
const noteFirstRow = `new MutationObserver((_, observer) => {
	if (!document.querySelector(".results li")) return;
	window.firstRow = performance.now();
	observer.disconnect();
}).observe(document, { childList: true, subtree: true });`;

/** Seconds until a row is there, in a browser without anything in its cache. */
async function untilFirstRow(browser: Browser, address: string): Promise<number> {
	const context = await browser.newContext();
	try {
		const page = await context.newPage();
		await page.addInitScript(noteFirstRow);
		const session = await context.newCDPSession(page);
		await session.send("Network.enable");
		await session.send("Network.emulateNetworkConditions", slow);
		await page.goto(address, { waitUntil: "commit" });
		await page.locator(".results li").first().waitFor();
		return ((await page.evaluate("firstRow")) as number) / 1_000;
	} finally {
		await context.close();
	}
}

async function prepareFirstRows({ layers }: World): Promise<Pair> {
	needBrowser();
	const files = await siteFiles(layers);
	const server = createServer((request, response) => {
		const route = parsePage(request.url ?? "/", "");
		const wanted = route?.kind === "page" ? route : { kind: "page" as const, file: "", root: "/" };
		const question = { ifNoneMatch: null, isSecure: false, headers: { "Content-Encoding": "gzip" } };
		const { status, headers, body } = answerPage(wanted, files.get(wanted.file) ?? null, question);
		response.writeHead(status, headers).end(body);
	});
	await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
	const browser = await openBrowser();
	const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/en/`;
	return {
		ours: () => untilFirstRow(browser, address),
		reference: async () => limit,
		close: async () => {
			await browser.close();
			server.close();
		},
	};
}

/** What a visitor waits for. */
export const firstRows: Row = {
	name: "first-rows",
	ours: "from opening the catalogue until its first rows, over slow 3G (400 kbit/s, 400 ms)",
	reference: "the limit",
	unit: "s",
	reach: { of: "ratio", most: 1 },
	prepare: prepareFirstRows,
};
