import type { Browser, Page } from "playwright-core";
import * as assert from "uvu/assert";
import { canonicalText } from "../../../registry/registration.ts";
import { layerPath } from "../../../registry/smallkey.ts";
import type { Meta } from "../../../store/store.ts";
import { listen } from "../../helpers/listen.ts";
import { Local } from "../../helpers/local.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { openBrowser, openWindow, runInBrowser, type Window } from "../browser.ts";
import { wmsAt } from "../site-world.ts";

interface Context {
	browser: Browser;
	local: Local;
	/** Address of the running service. */
	origin: string;
	window: Window;
}

const meta: Meta = {
	smallkey: null,
	author: "jstest",
	time: 0,
	subject: "remove 150 layers",
	trailers: [],
	request: null,
	review: false,
};

/** Markup that would run, load or close something, were it taken as markup anywhere. */
const markup = `"'><img src=x onerror=alert(1)><script>alert(2)</script></textarea></option><b>`;

/** As near to it as a title may come: a rule of registrations refuses `<` before a letter. */
const likeMarkup = `"'>< img src=x onerror=alert(1)> &lt;b&gt; &#60;b> {{7*7}}`;

/** One browser, one window and one service for everything that is odd. */
const test = sharedSuite<Context>("odd input, at the running service", async (use) => {
	const hosts = Array.from({ length: 200 }, (_, at): [string, string, string] => [
		`host${at}`,
		`https://maps${at}.example.ca/wms`,
		`Rivers of basin ${at}`,
	]);
	const layers: [string, string, string][] = [
		...hosts,
		["long", "https://maps.example.ca/wms", "W".repeat(500)],
		["markup", "https://maps.example.ca/wms", likeMarkup],
		["arabic", "https://maps.example.ca/wms", "خريطة الأنهار \u202eabc"],
	];
	const files = Object.fromEntries(
		layers.map(([key, address, title]) => [
			layerPath(key),
			canonicalText(wmsAt(address, "l", [title, `${title} (fr)`])),
		]),
	);
	const local = use(await Local.open({ files, variables: { SITE: "on" } }));
	const { origin } = use(await listen(local));
	const browser = use(await openBrowser());
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
	return { browser, local, origin, window: await openWindow(browser, { width: 320, height: 640 }) };
});

test.after.each(({ window }) => assert.equal(window.faults.splice(0), []));

/** That nothing of a text became a part of the page, and nothing is wider than the screen. */
async function assertHarmless(page: Page, what: string): Promise<void> {
	assert.is(await page.locator("main img[src=x], main script, main b").count(), 0, what);
	const wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
	assert.ok((wider as number) <= 0, `${what}: wider by ${wider}`);
}

/** Waits until a search has ended, with hits or without. */
async function untilFound(page: Page): Promise<void> {
	await page.locator('main [aria-busy="true"]').waitFor({ state: "detached" });
	await page.locator(".count").waitFor();
}

test("searches of any text, typed or in the address", async ({ origin, window: { page } }) => {
	await page.goto(`${origin}/en/`);
	await page.getByText("203 layers", { exact: true }).waitFor();
	for (const text of [
		"x".repeat(10_000),
		"(.*)+[\\^$",
		"a{1,99}|(?<x>",
		markup,
		"\u202exyz\u0000",
		"%00%2e%2e/",
	]) {
		await page.getByRole("searchbox").fill(text);
		const isIn = () => new URL(page.url()).searchParams.get("q")?.startsWith(text.slice(0, 5)) ?? false;
		await eventually(async () => isIn());
		await untilFound(page);
		await assertHarmless(page, text.slice(0, 40));
	}
	await page.getByRole("searchbox").fill("الأنهار");
	await page.getByText("1 layer", { exact: true }).waitFor();
	await page.locator('.results a[data-layer="arabic"]').waitFor();
	const text = encodeURIComponent(markup.repeat(20));
	await page.goto(`${origin}/fr/?q=${text}&type=%3Cb%3E&host=${"h".repeat(900)}&view=1,2`);
	await untilFound(page);
	await assertHarmless(page, "all in the address");
});

test("a publication while a page is open: its old files are not shown as what is there now", async ({
	origin,
	local,
	window: { page },
}) => {
	// What the browser keeps from before is everything that finds and shows this layer.
	await page.goto(`${origin}/en/?q=host3`);
	await page.locator('.results a[data-layer="host3"]').waitFor();
	await page.goto(`${origin}/en/?layer=host3`);
	await page.getByRole("heading", { level: 1, name: "Rivers of basin 3" }).waitFor();
	await page.goto(`${origin}/en/?q=rivers`);
	await page.locator(".results li").first().waitFor();
	// One change of many layers: what the page has not read yet is gone or another piece now.
	const removed = Array.from({ length: 150 }, (_, at) => ({ path: layerPath(`host${at}`), text: null }));
	await local.store.change(async () => removed, { ...meta, time: local.now });
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
	await page.goto(`${origin}/en/?layer=host3`);
	await page.getByText("There is no layer host3.").waitFor();
	await page.goto(`${origin}/en/?q=basin`);
	await page.locator(".results li").first().waitFor();
	await page.goto(`${origin}/en/?q=host3`);
	await page.locator('main [aria-busy="true"]').waitFor({ state: "detached" });
	await untilFound(page);
	assert.is(await page.locator('.results a[data-layer="host3"]').count(), 0);
});

runInBrowser(test);
