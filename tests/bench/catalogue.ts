import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { openBrowser, serveFolder } from "../../extensions/prove/browser.ts";
import { fragmentSettings } from "../../publish/rendered.ts";
import type { CommitChanges } from "../../site/data/changes.ts";
import { Index } from "../../site/data/chunks.ts";
import type { Entry } from "../../site/data/entries.ts";
import { catalogueFiles } from "../../site/data/files.ts";
import { buildPages } from "../../site/data/site.ts";
import { buildCatalogue, generateEntries } from "../site/data/entries.ts";
import { pageSettings, plainSettings } from "../site/data/pages.ts";
import { randomFrom } from "./layers.ts";
import type { Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

/** Size that the entries of a layer may have, in kB after gzip. */
const kilobytesPerLayer = 0.1;
/** CPU time that a change of one layer may take, in milliseconds. */
const maxChangeMs = 300;
/** Time until the first rows appear, in seconds; size of the page's own files, in kB; layout shift. */
const [maxFirstRowsSeconds, maxFirstKilobytes, maxShift] = [6, 60, 0.05];

/** Prepares a row whose reference is a limit. @returns the measured side */
type PrepareOurs = (world: World) => Promise<() => Promise<number>>;

/** The manifest and all chunks of generated entries. */
function indexFiles(layers: number) {
	const entries = new Map([...generateEntries(layers)].map((entry) => [entry.smallkey, entry]));
	return new Index(null).change(entries, "a".repeat(40)).files;
}

/** Measures the size of everything that a page reads of the index. */
const prepareEntries: PrepareOurs = async ({ layers }) => {
	const sizes = [...indexFiles(layers).values()].map((text) => gzipSync(text ?? "", { level: 9 }).length);
	const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1_000;
	return async () => kilobytes;
};

/** Changes per round; each starts from the files that the change before left. */
const changes = 20;

/** Measures the CPU time of the catalogue's work for one changed layer (read, render, compress), the slowest of `changes`. */
const prepareChange: PrepareOurs = async ({ layers }) => {
	const entries = [...generateEntries(layers)];
	const settings = { pages: pageSettings, isServed: true, commit: null, owners: () => ["@org/team"] };
	const commit = (at: number, smallkey: string): CommitChanges => ({
		commit: at.toString(16).padStart(40, "0"),
		date: "2026-05-05T00:00:00Z",
		layers: [{ smallkey, kind: "changed" }],
	});
	const files = buildCatalogue(entries, [commit(0, "first")], settings);
	const random = randomFrom(5);
	let at = 0;

	/** @returns milliseconds of CPU time */
	function change(): number {
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
		for (const [path, text] of written) files.set(path, text);
		return (user + system) / 1_000;
	}
	return async () => Math.max(...Array.from({ length: changes }, change));
};

/** Slow 3G as the browser emulates it: bytes per second in each direction, and milliseconds before each answer. */
const slow3g = { offline: false, downloadThroughput: 50_000, uploadThroughput: 50_000, latency: 400 };

/** Runs in the page: records when the first row appears, in milliseconds since the navigation started, and what moves. */
const recordRows = `new MutationObserver((_, observer) => {
	if (!document.querySelector(".results li")) return;
	window.firstRow = performance.now();
	observer.disconnect();
}).observe(document, { childList: true, subtree: true });
window.shift = 0;
new PerformanceObserver((list) => {
	for (const { value } of list.getEntries()) window.shift += value;
}).observe({ type: "layout-shift", buffered: true });`;

/** What is measured of opening the catalogue in a browser with an empty cache. */
const figures = {
	/** Seconds until the first row appears. */
	seconds: "firstRow / 1_000",
	/** Kilobytes of the page’s own files as they travel until then, without those of the index. */
	kilobytes: `performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
		.filter(({ name }) => !name.includes("/index/")).reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1_000`,
	/** Cumulative layout shift until all is read (web.dev, "Cumulative Layout Shift"). */
	shift: "shift",
};

/** Opens the catalogue in a browser with an empty cache, and waits until it is read. */
async function visit(browser: Browser, address: string, figure: keyof typeof figures): Promise<number> {
	const context = await browser.newContext();
	try {
		const page = await context.newPage();
		await page.addInitScript(recordRows);
		const session = await context.newCDPSession(page);
		await session.send("Network.enable");
		await session.send("Network.emulateNetworkConditions", slow3g);
		await page.goto(address, { waitUntil: "commit" });
		await page.locator(".results li").first().waitFor();
		if (figure === "shift") await page.waitForLoadState("networkidle", { timeout: 0 });
		return (await page.evaluate(figures[figure])) as number;
	} finally {
		await context.close();
	}
}

const prepareVisit =
	(figure: keyof typeof figures): PrepareOurs =>
	async (world) => {
		const browser = await openBrowser();
		world.endLater(() => browser.close());
		const site = await buildPages({
			fragments: fragmentSettings({ metadataUrl: "", catalogueUrl: "" }),
			publicUrl: "",
			site: plainSettings,
			senderNames: {},
			look: { theme: "", signature: "" },
			isCompressed: false,
			pictures: "",
		});
		const dist = world.path("pages");
		for (const [path, content] of [...site.files, ...indexFiles(world.layers)]) {
			if (content === null) continue;
			await mkdir(dirname(join(dist, path)), { recursive: true });
			await writeFile(join(dist, path), content);
			await writeFile(join(dist, `${path}.gz`), gzipSync(content));
		}
		const { address, close } = await serveFolder(dist);
		world.endLater(close);
		return () => visit(browser, `${address}en/`, figure);
	};

function row(
	name: string,
	ours: string,
	unit: Row["unit"],
	limitOf: (layers: number) => number,
	prepare: PrepareOurs,
): Row {
	const prepareBoth: Row["prepare"] = async (world) => {
		return { ours: await prepare(world), reference: async () => limitOf(world.layers) };
	};
	const reach: Row["reach"] = () => ({ of: "ratio", most: 1 });
	return { name, ours, reference: "limit", unit, reach, rounds: 1, prepare: prepareBoth };
}

const entries = "the catalogue's index, gzip";
const change = `CPU of a change of one layer, slowest of ${changes}`;
const rows = "until the catalogue's first rows, over slow 3G (400 kbit/s, 400 ms)";
const load = "what the page loads until then, without the index";
const shift = "layout shift until the catalogue is read";

/** Rows about the catalogue. The reference of each is a limit. */
export const catalogueRows: Row[] = [
	row("catalogue-entries", entries, "kB", (layers) => layers * kilobytesPerLayer, prepareEntries),
	row("catalogue-change", change, "ms", () => maxChangeMs, prepareChange),
	row("first-rows", rows, "s", () => maxFirstRowsSeconds, prepareVisit("seconds")),
	row("first-load", load, "kB", () => maxFirstKilobytes, prepareVisit("kilobytes")),
	row("layout-shift", shift, "", () => maxShift, prepareVisit("shift")),
];
