import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { answerPage, parsePage } from "../api/pages.ts";
import { catalogueFiles } from "../catalogue/catalogue.ts";
import type { CommitChanges } from "../catalogue/changes.ts";
import { Index } from "../catalogue/chunks.ts";
import { buildPages } from "../catalogue/site.ts";
import { needBrowser, openBrowser } from "../prove/browser.ts";
import { fragmentSettings } from "../publish/slots.ts";
import type { Entry } from "../registry/entries.ts";
import { buildCatalogue, generateEntries } from "../tests/catalogue/entries.ts";
import { plainSettings } from "../tests/catalogue/pages.ts";
import { randomFrom } from "./layers.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** What the page may weigh without the entries, in kB after gzip. */
const pageLimit = 60;
/** What the entries of a layer may weigh, in bytes after gzip. */
const bytesPerLayer = 100;
/** CPU milliseconds that a change of one layer may take. */
const changeLimitMs = 300;
/** Within which first rows are there, in seconds. */
const firstRowsLimit = 6;

function constant(figure: number): () => Promise<number> {
	return async () => figure;
}

function kilobytes(text: string | Uint8Array): number {
	return gzipSync(text, { level: 9 }).length / 1_000;
}

/** The manifest and every chunk of generated entries. */
function indexFiles(layers: number) {
	const entries = new Map([...generateEntries(layers)].map((entry) => [entry.smallkey, entry]));
	return new Index(null).change(entries, "a".repeat(40)).files;
}

function pages() {
	return buildPages({
		fragments: fragmentSettings({ metadataUrl: "", catalogueUrl: "" }),
		publicUrl: "",
		site: plainSettings,
		version: "0",
		senderNames: {},
		isCompressed: false,
		pictures: null,
		isServed: true,
	});
}

/** All that a page reads of the index. */
async function prepareEntries({ layers }: World): Promise<Pair> {
	const weight = [...indexFiles(layers).values()].reduce((sum, text) => sum + kilobytes(text ?? ""), 0);
	return { ours: constant(weight), reference: constant((layers * bytesPerLayer) / 1_000) };
}

/** The page, its scripts and styles, without what it reads of the index. */
async function prepareFirstLoad(): Promise<Pair> {
	const site = await pages();
	return {
		ours: async () => {
			const loaded = new Set(["en/index.html", "site.json", site.assets.styles]);
			const add = (path: string) => {
				if (loaded.has(path)) return;
				loaded.add(path);
				const text = Buffer.from(site.files.get(path) ?? "").toString("utf8");
				for (const [, name] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) add(`assets/${name}`);
			};
			add(site.assets.script);
			return [...loaded].reduce((sum, path) => sum + kilobytes(site.files.get(path) ?? ""), 0);
		},
		reference: constant(pageLimit),
	};
}

/** Changes that are made, each on the files that the one before left. */
const changes = 20;

/** CPU of the catalogue's own work for one changed layer, the slowest of some: files are read, made and compressed. */
async function prepareChange({ layers }: World): Promise<Pair> {
	const entries = [...generateEntries(layers)];
	const settings = { pages: null, isServed: true, publicUrl: "", commit: null, owners: () => ["@org/team"] };
	const commit = (at: number, smallkey: string): CommitChanges => ({
		commit: at.toString(16).padStart(40, "0"),
		date: "2026-05-05T00:00:00Z",
		layers: [{ smallkey, kind: "changed" }],
	});
	const files = buildCatalogue(entries, [commit(0, "first")], settings);
	const random = randomFrom(5);
	let at = 0;
	return {
		ours: async () => {
			let slowest = 0;
			for (let change = 0; change < changes; change += 1) {
				const one = entries[Math.floor(random() * entries.length)] as Entry;
				at += 1;
				const changed = { ...one, title: { ...one.title, en: `${one.title.en} ${at}` } };
				const start = process.cpuUsage();
				const written = catalogueFiles(
					(path) => files.get(path) ?? null,
					{ layers: new Map([[one.smallkey, changed]]), history: [commit(at, one.smallkey)] },
					settings,
				);
				for (const text of written.values()) if (text) gzipSync(text, { level: 6 });
				const { user, system } = process.cpuUsage(start);
				slowest = Math.max(slowest, (user + system) / 1_000);
				for (const [path, text] of written) files.set(path, text);
			}
			return slowest;
		},
		reference: constant(changeLimitMs),
	};
}

/** Slow 3G as a browser emulates it: bytes a second in each direction, and milliseconds before each answer. */
const slow = { offline: false, downloadThroughput: 50_000, uploadThroughput: 50_000, latency: 400 };

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
	const all = [...(await pages()).files, ...indexFiles(layers)].filter(([, content]) => content !== null);
	const files = new Map(all.map(([path, content]) => [path, gzipSync(content ?? "")]));
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
		reference: constant(firstRowsLimit),
		close: async () => {
			await browser.close();
			server.close();
		},
	};
}

function row(name: string, ours: string, unit: Row["unit"], prepare: Row["prepare"]): Row {
	return { name, ours, reference: "the limit", unit, reach: { of: "ratio", most: 1 }, prepare };
}

/** Rows about the catalogue, each beside a limit. */
export const catalogueRows: Row[] = [
	row("catalogue-entries", "all entries of the catalogue with their manifest, gzip", "kB", prepareEntries),
	row("catalogue-load", "first load of the page without the entries, gzip", "kB", prepareFirstLoad),
	row(
		"catalogue-change",
		`a change of one layer in the catalogue's files, CPU, slowest of ${changes}`,
		"ms",
		prepareChange,
	),
	row(
		"first-rows",
		"from opening the catalogue until its first rows, over slow 3G (400 kbit/s, 400 ms)",
		"s",
		prepareFirstRows,
	),
];
