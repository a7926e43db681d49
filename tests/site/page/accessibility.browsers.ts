import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { draftHash } from "../../../registry/draft.ts";
import { Peer } from "../../extensions/harvest/peer.ts";
import { eventually, gate } from "../../helpers/wait.ts";
import { barriers, isDrawn, openWindow, pageSuite, sees } from "../browser.ts";
import { commitOf } from "../data/entries.ts";
import { blue, red, serveFeatures, serveWms, symbolImage } from "../map-services.ts";
import { featureLayer, SiteWorld, wmsLayer } from "../site-world.ts";

const test = pageSuite("for people", async (use) => {
	const maps = use(await Peer.open());
	serveWms(maps, "/wms");
	serveFeatures(maps, "/MapServer/0", [
		{ attributes: { NAME: "one", KIND: 1 }, geometry: { x: 0, y: 1_000_000 } },
	]);
	const features = featureLayer("stations", `${maps.origin}/MapServer/0`, {
		type: "unique",
		fields: ["KIND"],
		default: null,
		classes: [
			{ label: "one", image: symbolImage(red), value: 1 },
			{ label: "two", image: symbolImage(blue), value: 2 },
		],
	});
	const titles: [string, string] = ["Rivers", "Rivières"];
	const rivers = wmsLayer("rivers", `${maps.origin}/wms`, titles, { sender: "Rivers Canada" });
	const many = Array.from({ length: 250 }, (_, at) => ({ smallkey: `k${at}`, kind: "removed" as const }));
	const world = await SiteWorld.open(
		[
			features,
			rivers,
			wmsLayer("sick", "https://gone.example.ca/wms", ["Ice".repeat(100), "Glace".repeat(90)], {
				health: { state: "down", since: "2026-W09" },
			}),
		],
		{ canSend: true, repository: "https://github.example/org/layers" },
		"",
		[commitOf(0, [{ smallkey: "rivers", kind: "changed" }]), commitOf(1, many)],
	);
	const draft = draftHash({ smallkey: "new", text: JSON.stringify(rivers.registration) });
	const pages: [string, (page: Page) => Promise<unknown>][] = [
		["", (page) => page.locator(".results li").first().waitFor()],
		["?q=nothing&type=wms", (page) => page.locator(".count strong").waitFor()],
		["layer/stations", isDrawn],
		["layer/rivers", isDrawn],
		["layer/sick", (page) => isDrawn(page, "failed")],
		["embed/rivers", isDrawn],
		["absent", (page) => page.locator("main a").first().waitFor()],
		["changes/", (page) => page.locator(".changes").first().waitFor()],
		["?page=draft", (page) => page.locator("#source").waitFor()],
		[`?page=draft${draft}`, isDrawn],
	];
	return { world: use(world), pages };
});

async function besideText(page: Page) {
	return page.evaluate(() => {
		const main = document.querySelector("main") as HTMLElement;
		const edge = main.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(main).paddingRight);
		const controls = [...main.querySelectorAll("select, textarea, button, input:not([type=file])")];
		return controls
			.filter((control) => control.getBoundingClientRect().right > edge + 1)
			.map(({ outerHTML }) => outerHTML);
	});
}

async function narrowestCell(page: Page) {
	const cells =
		"[...document.querySelectorAll('main :is(td, th)')].filter((cell) => cell.offsetWidth > 0 && cell.innerText !== '')";
	return (await page.evaluate(`Math.min(1e3, ...${cells}.map((cell) => cell.clientWidth))`)) as number;
}

for (const [lang, withColours] of [
	["en", true],
	// The colours of a page are those of its English one, and half of axe-core's time.
	["fr", false],
] as const) {
	const what = withColours ? ", light and dark," : "";
	test(`axe-core finds nothing on any page${what} and none is wider than a phone: ${lang}`, async (scene) => {
		const { browser, world, pages } = scene;
		// axe-core comes in beside the page's policy.
		const { page: tab, context, faults } = await openWindow(browser, { bypassCSP: true });
		for (const [path, ready] of pages) {
			await tab.setViewportSize({ width: 1_200, height: 900 });
			await tab.emulateMedia({ colorScheme: "light" });
			// Two addresses that differ in what follows `#` alone are one page.
			await tab.goto("about:blank");
			await tab.goto(world.url(`${lang}/${path}`));
			await ready(tab);
			if (path === "") await tab.locator(".filters[open] select").first().waitFor();
			// What is found is read while the next search runs, too.
			await tab.evaluate("document.querySelector('.found')?.setAttribute('aria-busy', 'true')");
			const rules = { "color-contrast": { enabled: withColours }, "target-size": { enabled: true } };
			assert.equal(await barriers(tab, { rules }), [], `${lang}/${path}`);
			assert.is(await tab.locator('[tabindex="0"]:not([role])').count(), 0, `${lang}/${path}`);
			if (withColours) {
				await tab.emulateMedia({ colorScheme: "dark" });
				const inTheDark = await barriers(tab, { runOnly: ["color-contrast"] });
				assert.equal(inTheDark, [], `${lang}/${path} in the dark`);
			}
			await tab.setViewportSize({ width: 320, height: 640 });
			const width = await tab.evaluate("document.documentElement.scrollWidth");
			assert.ok((width as number) <= 320, `${lang}/${path}: ${width}`);
			assert.equal(await besideText(tab), [], `${lang}/${path}`);
			assert.equal(await barriers(tab, { runOnly: ["target-size"] }), [], `${lang}/${path}, narrow`);
			assert.ok((await narrowestCell(tab)) >= 60, `${lang}/${path}: a column of single letters`);
			assert.equal(faults, []);
		}
		await context.close();
	});
}

test("the guide and the plain list have no barriers, on a narrow screen too", async ({ browser, world }) => {
	for (const [path, width, colorScheme] of [
		["guide/", 1_200, "light"],
		["guide/operate.html", 320, "dark"],
		["guide/fr/publish.html", 320, "light"],
		["list/fr/", 320, "dark"],
	] as const) {
		const {
			page: tab,
			context,
			faults,
		} = await openWindow(browser, {
			viewport: { width, height: 900 },
			colorScheme,
		});
		await tab.goto(world.url(path.endsWith("/") ? `${path}index.html` : path));
		assert.equal(await barriers(tab), [], path);
		const overflow = await tab.evaluate("document.documentElement.scrollWidth - innerWidth");
		assert.ok((overflow as number) <= 0, `${path} is wider than the screen by ${overflow}`);
		assert.equal(faults, []);
		await context.close();
	}
});

test("the keyboard does everything, and the focus goes where one goes", async ({ browser, world }) => {
	const { page, context } = await openWindow(browser);
	await page.goto(world.url("en/"));
	await page.locator(".results li").first().waitFor();
	await page.keyboard.press("Tab");
	assert.is(await page.evaluate("document.activeElement.textContent"), "Skip to the content");
	await page.keyboard.press("Enter");
	assert.is(await page.evaluate("document.activeElement.tagName + location.hash"), "H1");
	await page.getByRole("searchbox").focus();
	await page.keyboard.type("rivers");
	await sees(page, "1 layer");
	await page.locator(".results a").first().focus();
	await page.keyboard.press("Enter");
	await page.getByRole("heading", { level: 1, name: "Rivers" }).waitFor();
	assert.is(await page.evaluate("document.activeElement.tagName"), "H1");
	await eventually(async () => (await page.title()) === "Rivers – Map layers");
	await isDrawn(page);
	// Back in the list the focus is where it was, whichever way one goes.
	const inFocus = () => page.evaluate("document.activeElement.dataset.layer");
	await page.goBack();
	await eventually(async () => (await inFocus()) === "rivers");
	// What the layer's page reads takes no focus away when it arrives.
	const [held, release] = gate();
	await page.route("**/doc/**", (route) => held.then(() => route.continue()));
	await page.keyboard.press("Enter");
	const back = page.getByRole("link", { name: "Back to the layers" });
	await back.focus();
	release();
	await isDrawn(page);
	assert.match(await page.evaluate("document.activeElement.textContent"), "Back to the layers");
	await page.keyboard.press("Enter");
	await eventually(async () => (await inFocus()) === "rivers");
	await context.close();
});

test.run();
