import type { Browser } from "playwright-core";
import * as assert from "uvu/assert";
import { checkResult } from "../../../extensions/harvest/health.ts";
import { causeOf } from "../../../site/data/health.ts";
import { eventually } from "../../helpers/wait.ts";
import { openWindow, pageSuite, sees } from "../browser.ts";
import { SiteWorld, type TestLayer, wmsLayer } from "../site-world.ts";

const hosts = ["maps.example.ca", "gis.example.ca"];

const maps = "https://maps.example.ca/wms";

const rivers = Array.from({ length: 40 }, (_, at) => {
	const titles: [string, string] = [`Rivers of region ${at}`, `Rivières de la région ${at}`];
	const sender = at % 4 === 0 ? "Rivers Canada" : "Lakes Canada";
	return wmsLayer(`layer-${at}`, `https://${hosts[at % 2]}/wms`, titles, { sender });
});
const layers: TestLayer[] = [
	...rivers,
	wmsLayer("ecoles", maps, ["Schools", "Écoles du Québec"]),
	wmsLayer("same", maps, ["Radon", "Radon"]),
	wmsLayer("sick-one", "https://gone.example.ca/wms", ["Glaciers", "Glaciers du Canada"], {
		health: { ...checkResult("down", causeOf("status", 503)), since: "2026-W09" },
	}),
	wmsLayer("odd", maps, ["W".repeat(500), "‹img src=x› مرحبا"]),
];

const test = pageSuite("catalogue page", async (use) => ({
	world: use(await SiteWorld.open(layers, {}, "/base")),
}));

/** Until the rows or the map are there (web.dev, "Cumulative Layout Shift"). */
async function shiftOf(browser: Browser, width: number, address: string, ready: string) {
	const { page, context } = await openWindow(browser, { viewport: { width, height: 800 } });
	await page.addInitScript(`
		globalThis.shift = 0;
		new PerformanceObserver((list) => {
			for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;
		}).observe({ type: "layout-shift", buffered: true });`);
	await page.goto(address);
	await page.locator(ready).first().waitFor();
	await page.waitForLoadState("networkidle");
	const shift = (await page.evaluate("shift")) as number;
	await context.close();
	return shift;
}

test("nothing moves while a page loads, wide and narrow", async ({ browser, world }) => {
	const pages = [
		["en/", ".found:not([aria-busy]) .results li:nth-child(10)"],
		["en/layer/same", '.map[data-state="failed"]'],
		["en/?page=draft", "main input"],
	] as const;
	const assertStill = async (at: SiteWorld, path: string, ready: string) => {
		for (const width of [1_200, 390]) {
			const shift = await shiftOf(browser, width, at.url(path), ready);
			assert.ok(shift < 0.05, `${path} at ${width}: ${shift}`);
		}
	};
	for (const [path, ready] of pages) await assertStill(world, path, ready);
});

test("Back undoes a search, a filter and an order, in the box too", async ({ page, world }) => {
	await page.goto(world.url("en/"));
	const box = page.getByRole("searchbox");
	await box.fill("schools");
	await box.press("Enter");
	await page.waitForURL(/\?q=schools$/);
	await box.fill("gla");
	await page.waitForURL(/\?q=gla$/);
	await box.fill("glaciers");
	await box.press("Enter");
	await page.waitForURL(/\?q=glaciers$/);
	await box.fill("");
	await box.pressSequentially("radon");
	await page.waitForURL(/\?q=radon$/);
	await page.getByLabel("Sort by").selectOption("title");
	await page.waitForURL(/sort=title$/);
	await page.goBack();
	await page.waitForURL(/\?q=radon$/);
	await eventually(async () => (await page.getByLabel("Sort by").inputValue()) === "best");
	await box.focus();
	await page.goBack();
	await page.waitForURL(/\?q=glaciers$/);
	assert.is(await box.inputValue(), "glaciers");
	await page.locator(".results").getByText("Glaciers", { exact: true }).first().waitFor();
	await page.goBack();
	await page.waitForURL(/\?q=schools$/);
	await page.goBack();
	await sees(page, "44 layers");
	assert.is(await box.inputValue(), "");
});

test("the browser’s cache has all layers but those that were removed", async ({ page }) => {
	await using world = await SiteWorld.open(layers);
	await page.goto(world.url("en/"));
	await sees(page, "44 layers");
	const text = world.files.get("index/index.json") as string;
	const manifest = JSON.parse(text) as { layers: number; chunks: (string | null)[] };
	const { entries } = JSON.parse(world.files.get(manifest.chunks.find(Boolean) as string) as string);
	const chunks = manifest.chunks.with(manifest.chunks.findIndex(Boolean), null);
	world.files.set("index/index.json", JSON.stringify({ ...manifest, chunks }));
	const chunksAsked = () => world.server.asked.filter((path) => path.includes("/index/chunks/")).length;
	const before = chunksAsked();
	assert.ok(before > 0);
	await page.reload();
	await sees(page, `${44 - entries.length} layers`);
	// What has not changed comes from the cache.
	assert.is(chunksAsked(), before);
});

test("the list comes before the index of its search, which is tried again", async ({ page, world }) => {
	const asked: string[] = [];
	page.on("request", (request) => asked.push(new URL(request.url()).pathname));
	const script = "**/assets/worker-*.js";
	await page.route(script, (route) => route.abort());
	await page.goto(world.url("en/"));
	await sees(page, "44 layers");
	await eventually(() => asked.some((path) => path.includes("/worker-")));
	const chunks = asked.flatMap((path, at) => (path.includes("/index/chunks/") ? at : []));
	assert.ok(asked.findIndex((path) => path.includes("/worker-")) > Math.max(...chunks));
	// The search box is still empty.
	assert.is(await page.getByRole("alert").count(), 0);
	const box = page.getByRole("searchbox");
	await box.fill("radon");
	await page.getByRole("alert").waitFor();
	await page.unroute(script);
	await box.fill("schools");
	await page.locator(".results li").getByText("Schools", { exact: true }).first().waitFor();
	await sees(page, "1 layer");
});

test("the sick layers are a choice of the list", async ({ page, world }) => {
	await page.goto(world.url("en/"));
	await page.getByRole("link", { name: "Health" }).click();
	await page.locator(".results li").getByText("Glaciers").first().waitFor();
	await sees(page, "1 layer");
});

test("no text in the address becomes a part of the page, and its search ends", async ({ page, world }) => {
	const markup = `"'><img src=x onerror=alert(1)><script>alert(2)</script></textarea></option><b>`;
	const text = encodeURIComponent(markup.repeat(20));
	await page.goto(world.url(`fr/?q=${text}&type=%3Cb%3E&host=${"h".repeat(900)}`));
	await page.locator('main [aria-busy="true"]').waitFor({ state: "detached" });
	await page.locator(".count").waitFor();
	assert.is(await page.locator("main img[src=x], main script, main b").count(), 0);
	assert.ok(((await page.evaluate("document.documentElement.scrollWidth - innerWidth")) as number) <= 0);
	await page.goto(world.url(`fr/?q=${encodeURIComponent("مرحبا")}`));
	await page.locator('.results a[data-layer="odd"]').first().waitFor();
});

test("a view whose script is missing loads the page once more, not offline", async ({ browser, world }) => {
	// A context of its own: another one may have the view's script in its cache.
	const { page, context } = await openWindow(browser);
	const script = "**/assets/draft-view-*";
	const draft = page.getByRole("link", { name: "Try a draft" });
	const open = async () => {
		await page.goto(world.url("en/"));
		await sees(page, "44 layers");
	};
	await open();
	let loads = 0;
	page.on("load", () => {
		loads += 1;
	});
	await context.setOffline(true);
	await draft.click();
	await page.getByText("This site does not answer").waitFor();
	await context.setOffline(false);
	assert.is(loads, 0);
	let requests = 0;
	await page.route(script, (route) => {
		requests += 1;
		return route.abort();
	});
	await open();
	await draft.click();
	await eventually(() => requests === 2);
	await page.getByText("This site does not answer").waitFor();
	assert.is(requests, 2);
	await page.unrouteAll();
	await draft.click();
	await page.locator("#source").waitFor();
	assert.is(page.url(), world.url("en/?page=draft"));
	await context.close();
});

test("a layer that is not in the catalogue yet has the title of its fragment", async ({ page }) => {
	await using world = await SiteWorld.open([]);
	const node = { displayName: "New rivers", url: "https://nowhere.example.ca/wms", layerName: "l" };
	world.files.set("v0.9/doc/en/new", JSON.stringify({ layers: { wms: [node] } }));
	await page.goto(world.url("en/?layer=new"));
	await page.getByRole("heading", { level: 1, name: "New rivers" }).waitFor();
	assert.is(
		(await page.locator(".layerhead").innerText()).replace(/\s+/g, " "),
		"New rivers new Copy the smallkey",
	);
	assert.match(await page.locator("dl").innerText(), /Not checked yet/);
});

test.run();
