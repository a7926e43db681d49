import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { Peer } from "../../extensions/harvest/peer.ts";
import { eventually } from "../../helpers/wait.ts";
import { isDrawn, openWindow, pageSuite } from "../browser.ts";
import { sendJson, sendText, serveWms } from "../map-services.ts";
import { SiteWorld, wmsLayer } from "../site-world.ts";

const test = pageSuite("draft", async (use) => {
	const maps = use(await Peer.open());
	serveWms(maps, "/wms");
	const taken = wmsLayer("taken", "https://maps.example.ca/wms", ["Taken", "Prise"]);
	const settings = { canSend: true, repository: "https://github.example/org/layers" };
	return { maps, world: use(await SiteWorld.open([taken], settings, "/base")) };
});

async function openAll(page: Page) {
	await page.locator("#source").waitFor();
	for (const summary of await page.locator(".draftfields summary").all()) await summary.click();
}

async function fillForm(page: Page, address: string) {
	await openAll(page);
	await page.getByLabel("Smallkey").fill("a+b=1");
	for (const lang of ["English", "French"]) {
		await page.getByLabel(`Address of the service (${lang})`).fill(address);
		await page.getByLabel(`Layer in the service (${lang})`).fill("l");
		await page.getByLabel(`Title (${lang})`).fill(`Title in ${lang}`);
	}
}

test("a draft is judged as one types, by the rules and in the words of the API", async ({ page, world }) => {
	await page.goto(world.url("en/?page=draft"));
	await openAll(page);
	const text = page.getByLabel("The registration (JSON)");
	await text.fill(
		'{"version":"1.0.0","payload_type":"wms","en":{"service_url":"ftp://x","layer":""},"fr":{}}',
	);
	await page.getByText("To be sent, it needs").waitFor();
	assert.is(await page.locator("main .verdict li, main .bad, main [aria-invalid=true]").count(), 0);
	await text.press("Tab");
	const verdict = page.locator(".verdict li");
	await verdict.first().waitFor();
	const problems = await verdict.allTextContents();
	assert.ok(problems.includes("/fr/service_url: is missing"));
	assert.ok(
		problems.some((problem) => problem.startsWith("/en/service_url: must be an http or https address")),
	);
	assert.is(await page.getByLabel("Address of the service (English)").getAttribute("aria-invalid"), "true");
	await text.fill("<img src=x onerror=alert(1)>");
	await page.locator(".verdict").getByText("must be JSON").waitFor();
	assert.is(await page.locator("main img").count(), 0);
	const smallkey = page.getByLabel("Smallkey");
	const refused = { "no key": "1 to 64 of A-Z", Taken: "in case" };
	for (const [key, rule] of Object.entries(refused)) {
		await smallkey.fill(key);
		await smallkey.press("Tab");
		await page.locator("#key[aria-invalid=true] ~ #keynote", { hasText: rule }).waitFor();
	}
	await smallkey.fill("taken");
	await page.getByText("This smallkey is registered").waitFor();
	assert.is(await page.getByRole("heading", { name: "Register it" }).count(), 0);
});

test("the layers of a service are offered, by name and by number", async ({ page, maps, world }) => {
	const capabilities = `<WMS_Capabilities xmlns="http://www.opengis.net/wms"><Capability><Layer><Title>All</Title>
<Layer><Name>roads</Name><Title>Roads &lt;b&gt;</Title></Layer><Layer><Name>lakes</Name></Layer></Layer></Capability></WMS_Capabilities>`;
	maps.on("/caps", sendText(capabilities, "text/xml"));
	const layers = [0, 7].map((id) => ({ id, name: `Wells ${id}` }));
	maps.on("/x/MapServer", sendJson({ layers }));
	maps.on("/broken", sendText("no", "text/plain", 503));
	await page.goto(world.url("en/?page=draft"));
	await openAll(page);
	const choice = page.locator("#servicelayer");
	const read = async (path: string) => {
		await page.locator("#source").fill(maps.origin + path);
		await page.getByRole("button", { name: "Read it" }).click();
	};
	await read("/caps");
	await choice.waitFor();
	const options = await choice.locator("option").allTextContents();
	assert.equal(options, ["Choose one of 2 layers", "Roads <b> (roads)", "lakes"]);
	await choice.selectOption("roads");
	await page.getByText("No service in").waitFor();
	assert.is(await page.getByLabel("Layer in the service (English)").inputValue(), "roads");
	await read("/broken");
	await page.getByText("status 503").waitFor();
	await read("/x/MapServer");
	await choice.selectOption({ label: "Wells 7 (7)" });
	assert.is(
		await page.getByLabel("Address of the service (English)").inputValue(),
		`${maps.origin}/x/MapServer/7`,
	);
	assert.is(await page.getByLabel("Layer in the service (English)").count(), 0);
	await page.locator("#source").fill('{"version":"1.0.0","payload_type":"wms"}');
	await page.locator("#source").press("Enter");
	await page.locator(".verdict").getByText("/en: is missing").waitFor();
});

test("a draft is drawn, shared, and proposed without a secret", async ({ browser, page, maps, world }) => {
	await page.goto(world.url("en/?page=draft"));
	await fillForm(page, `${maps.origin}/wms`);
	await page.getByText("is in order").waitFor();
	await isDrawn(page);
	await eventually(() => page.url().includes("#draft="));
	// What was opened or closed stays so while one types.
	await page.getByText("What viewers would read").click();
	await page.getByLabel("Title (English)").fill("Another title");
	await page.locator(".copies pre", { hasText: "Another title" }).first().waitFor({ state: "attached" });
	assert.ok(
		await page.locator("details:has(> .copies)").evaluate((details) => (details as HTMLDetailsElement).open),
	);
	// Neither `.skip` nor the language loses it.
	await page.locator(".skip").focus();
	await page.keyboard.press("Enter");
	const other = async () => (await page.locator(".language").getAttribute("href")) ?? "";
	await eventually(async () => new URL(await other(), page.url()).hash === new URL(page.url()).hash);
	assert.is(await page.getByLabel("Title (English)").inputValue(), "Another title");
	assert.match(page.url(), "#draft=");
	const shared = await openWindow(browser);
	await shared.page.goto(page.url());
	await shared.page.getByText("is in order").waitFor();
	assert.is(await shared.page.getByLabel("Smallkey").inputValue(), "a+b=1");
	await shared.context.close();
	const file = page.getByRole("link", { name: "Save the file" });
	assert.is(await file.getAttribute("download"), "a+b=1.json");
	const body = decodeURIComponent((await file.getAttribute("href")) ?? "").replace(/^[^,]*,/, "");
	assert.is(JSON.parse(body).fr.service_name, "Title in French");
	const proposal = await page.getByRole("link", { name: "Propose it" }).getAttribute("href");
	const { pathname, searchParams } = new URL(proposal ?? "");
	assert.is(pathname, "/org/layers/new/main");
	assert.is(searchParams.get("filename"), "layers/a+/a+b=1.json");
	assert.is(searchParams.get("value"), body);
});

test.run();
