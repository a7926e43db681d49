import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { sign } from "../../../api/senders.ts";
import { Peer } from "../../extensions/harvest/peer.ts";
import { eventually } from "../../helpers/wait.ts";
import { assertColour, isDrawn, openWindow, pageSuite } from "../browser.ts";
import { red, sendJson, sendText, serveWms } from "../map-services.ts";
import { SiteWorld, wmsLayer } from "../site-world.ts";

interface Sent {
	path: string;
	headers: Record<string, string>;
	body: string;
}

const test = pageSuite("draft", async (use) => {
	const maps = use(await Peer.open());
	serveWms(maps, "/wms", { colourOf: () => red });
	const taken = wmsLayer("taken", "https://maps.example.ca/wms", ["Taken", "Prise"]);
	const settings = {
		canSend: true,
		repository: "https://github.example/org/layers",
		contact: "maps@example.ca",
	};
	return { maps, world: use(await SiteWorld.open([taken], settings, "/base")) };
});

function takePut(world: SiteWorld, path: string, status: number, answer: object): Promise<Sent> {
	return new Promise((resolve) => {
		world.server.on(path, (request, response) => {
			const parts: Buffer[] = [];
			request.on("data", (part) => parts.push(part));
			request.on("end", () => {
				response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
				const headers = request.headers as Record<string, string>;
				const body = Buffer.concat(parts).toString("utf8");
				resolve({ path: request.url ?? "", headers, body });
			});
		});
	});
}

async function openAll(page: Page): Promise<void> {
	await page.locator("#source").waitFor();
	for (const summary of await page.locator(".draftfields summary").all()) await summary.click();
}

async function fillForm(page: Page, address: string): Promise<void> {
	await openAll(page);
	await page.getByLabel("Smallkey").fill("a+b=1");
	for (const lang of ["English", "French"]) {
		await page.getByLabel(`Address (${lang})`).fill(address);
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
	await page.getByText("Not complete yet.").waitFor();
	assert.is(
		await page.locator("main .verdict li, main .bad, main [aria-invalid=true]").count(),
		0,
		"while one types",
	);
	await text.press("Tab");
	const verdict = page.locator(".verdict li");
	await verdict.first().waitFor();
	const problems = await verdict.allTextContents();
	assert.ok(problems.includes("/fr/service_url: is missing"), problems.join("\n"));
	assert.ok(
		problems.some((problem) => problem.startsWith("/en/service_url: must be an http or https address")),
	);
	// Each problem is also at the field that it is about.
	const address = page.getByLabel("Address (English)");
	assert.is(await address.getAttribute("aria-invalid"), "true");
	const note = (await address.getAttribute("aria-describedby")) ?? "";
	assert.match(await page.locator(`#${note}`).innerText(), /^must be an http or https address/);
	await text.fill("<img src=x onerror=alert(1)>");
	await page.locator(".verdict").getByText("must be JSON").waitFor();
	assert.is(await page.locator("main img").count(), 0);
	await page.getByLabel("Smallkey").fill("no key");
	await page.getByLabel("Smallkey").press("Tab");
	await page.getByText("The smallkey must be 1 to 64 of").waitFor();
	await page.getByLabel("Smallkey").fill("taken");
	await page.getByText("This smallkey is registered").waitFor();
	assert.is(await page.getByRole("heading", { name: "Register it" }).count(), 0);
});

test("the layers of a service are offered, by name and by number", async ({ page, maps, world }) => {
	const capabilities = `<WMS_Capabilities xmlns="http://www.opengis.net/wms"><Capability><Layer><Title>All</Title>
<Layer><Name>roads</Name><Title>Roads &lt;b&gt;</Title></Layer><Layer><Name>lakes</Name></Layer></Layer></Capability></WMS_Capabilities>`;
	maps.on("/caps", sendText(capabilities, "text/xml"));
	maps.on(
		"/x/MapServer",
		sendJson({
			layers: [
				{ id: 0, name: "Wells" },
				{ id: 7, name: "Springs" },
			],
		}),
	);
	maps.on("/broken", sendText("no", "text/plain", 503));
	await page.goto(world.url("en/?page=draft"));
	await openAll(page);
	const list = page.getByRole("button", { name: "List the layers of the service (English)" });
	await page.getByLabel("Address (English)").fill(`${maps.origin}/caps`);
	await list.click();
	const choice = page.locator(".offer select");
	await choice.waitFor();
	assert.equal(await choice.locator("option").allTextContents(), [
		"Choose one of 2 layers",
		"Roads <b> (roads)",
		"lakes",
	]);
	// What is typed after the list was read stays when a layer is chosen from it.
	await page.getByLabel("Title (English)").fill("Highways");
	await choice.selectOption("roads");
	assert.is(await page.getByLabel("Layer in the service (English)").inputValue(), "roads");
	assert.is(await page.getByLabel("Title (English)").inputValue(), "Highways");
	// The field of the layer has the focus, and goes with the kind of service.
	const kind = page.getByLabel("Kind of service");
	await kind.selectOption("feature");
	assert.is(await page.getByLabel("Layer in the service (English)").count(), 0);
	await kind.selectOption("wms");
	await page.getByLabel("Address (English)").fill(`${maps.origin}/broken`);
	await list.click();
	await page.locator(".offer").getByText("answered with status 503").waitFor();
	await kind.selectOption("feature");
	await page.getByLabel("Address (English)").fill(`${maps.origin}/x/MapServer/3`);
	await list.click();
	await choice.selectOption({ label: "Springs (7)" });
	assert.is(await page.getByLabel("Address (English)").inputValue(), `${maps.origin}/x/MapServer/7`);
});

test("a draft of the form is drawn, shared by its address, and proposed without a secret", async (scene) => {
	const { browser, page, maps, world } = scene;
	await page.goto(world.url("en/?page=draft"));
	await fillForm(page, `${maps.origin}/wms`);
	await page.getByText("The registration is in order.").waitFor();
	await isDrawn(page);
	await assertColour(page, 0.5, 0.5, red);
	await eventually(() => page.url().includes("#draft="));
	// What was opened or closed stays so while one types.
	await page.getByText("What viewers would read").click();
	await page.getByLabel("Title (English)").fill("Another title");
	await page.locator(".copies pre", { hasText: "Another title" }).first().waitFor({ state: "attached" });
	assert.ok(
		await page.locator("details:has(> .copies)").evaluate((details) => (details as HTMLDetailsElement).open),
	);
	// Neither the way past the menu nor the other language loses it.
	await page.locator(".skip").focus();
	await page.keyboard.press("Enter");
	const other = async () => (await page.locator(".language").getAttribute("href")) ?? "";
	await eventually(async () => new URL(await other(), page.url()).hash === new URL(page.url()).hash);
	assert.is(await page.getByLabel("Title (English)").inputValue(), "Another title");
	assert.match(page.url(), "#draft=");
	const shared = await openWindow(browser);
	await shared.page.goto(page.url());
	await shared.page.getByText("The registration is in order.").waitFor();
	assert.is(await shared.page.getByLabel("Smallkey").inputValue(), "a+b=1");
	await shared.context.close();
	await page.getByText("Without a secret").click();
	const file = page.getByRole("link", { name: "Save the file for a pull request" });
	assert.is(await file.getAttribute("download"), "a+b=1.json");
	const body = decodeURIComponent((await file.getAttribute("href")) ?? "").replace(/^[^,]*,/, "");
	assert.is(JSON.parse(body).fr.service_name, "Title in French");
	const mail = new URL((await page.getByRole("link", { name: "Write an email" }).getAttribute("href")) ?? "");
	assert.is(mail.pathname, "maps@example.ca");
	assert.ok(mail.searchParams.get("body")?.includes(body));
	const proposal = await page
		.getByRole("link", { name: "Open GitHub with the file filled in" })
		.getAttribute("href");
	const { pathname, searchParams } = new URL(proposal ?? "");
	assert.is(pathname, "/org/layers/new/main");
	assert.is(searchParams.get("filename"), "layers/a+/a+b=1.json");
	assert.is(searchParams.get("value"), body);
});

test("the copied command signs and sends the very registration, with a shell, openssl and curl", async (scene) => {
	const { page, maps, world } = scene;
	await page.goto(world.url("en/?page=draft"));
	await fillForm(page, `${maps.origin}/wms`);
	await page.getByLabel("Title (French)").fill("L'école d’été");
	await page.getByLabel("Sender id").fill("jstest");
	await page.getByText("The registration is in order.").waitFor();
	await page.getByText("Signed curl command").first().click();
	await eventually(async () => (await page.locator(".register pre").innerText()).includes("d’été"));
	const command = await page.locator(".register pre").innerText();
	const sent = takePut(world, "/base/register/a+b=1", 201, { smallkey: "a+b=1" });
	const options = { env: { PATH: process.env.PATH, SECRET: "test_-k" } };
	await promisify(execFile)("sh", ["-c", command], options);
	const { path, headers, body } = await sent;
	const signed = { path, sender: "jstest", timestamp: headers.timestamp ?? "", body: Buffer.from(body) };
	assert.is(headers.authorization, await sign("test_-k", signed));
	assert.is(JSON.parse(body).fr.service_name, "L'école d’été");
	await assert.not.ok(command.includes("test_-k"));
});

test.run();
