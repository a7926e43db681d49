import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { Peer } from "../../harvest/peer.ts";
import { listen } from "../../helpers/listen.ts";
import { Local, secrets } from "../../helpers/local.ts";
import { root } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { colourAt, isNear, openBrowser, openWindow, runInBrowser } from "../browser.ts";
import { red, serveWms } from "../map-services.ts";
import { wmsAt } from "../site-world.ts";

/** The catalogue as the running service serves it: no part of it is a substitute. */
/** `origin` is the address of the running service with its base path. */
const test = sharedSuite("the catalogue of the running service, in a browser", async (use) => {
	const maps = use(await Peer.open());
	const local = use(await Local.open({ variables: { SITE: "on", BASE_PATH: "/rcs" } }));
	serveWms(maps, "/wms", { colourOf: () => red });
	const address = { origin: "" };
	// The page signs by the browser's clock.
	local.context = {
		...local.context,
		now: () => new Date(),
		settings: {
			...local.context.settings,
			get publicUrl() {
				return address.origin;
			},
		},
	};
	const server = use(await listen(local));
	const browser = use(await openBrowser());
	address.origin = `${server.origin}/rcs`;
	await inStep(local);
	return { browser, maps, local, origin: address.origin };
});

async function inStep(local: Local): Promise<void> {
	await eventually(() => local.catalogue?.updatedTo === local.store.tip);
}

async function isRed(page: Page): Promise<void> {
	await page.locator('.map[data-state="drawn"]').waitFor();
	await eventually(async () => isNear(await colourAt(page, ".map", 0.5, 0.5), red));
}

test("a receipt leads to the draft on a map; sent signed from there, it is found in the catalogue", async (context) => {
	const { browser, maps, local, origin } = context;
	local.now = Date.now();
	const registration = wmsAt(`${maps.origin}/wms`, "l", ["School districts", "Écoles"]);
	const receipt = await local.write({
		target: "/rcs/register/schools",
		body: JSON.stringify(registration),
	});
	assert.is(receipt.status, 201);
	const { draft } = (await receipt.json()) as { draft: string };
	assert.ok(draft.startsWith(`${origin}/?page=draft#draft=`), draft);
	const { page, context: window, faults } = await openWindow(browser, { locale: "fr-CA" });
	await page.goto(draft);
	await page.waitForURL(`${origin}/fr/?page=draft#draft=*`);
	await page.getByText("L’inscription est valide.").waitFor();
	await isRed(page);
	await page.getByLabel("Clé", { exact: true }).fill("schools-2");
	await page.getByLabel("Identifiant de l’expéditeur").fill("jstest");
	await page.getByLabel("Secret").fill(secrets.jstest);
	await page.getByRole("button", { name: "Signer et envoyer" }).click();
	await page.locator(".answer .good").waitFor();
	await inStep(local);
	await page.locator(".answer a").click();
	await page.getByRole("heading", { level: 1, name: "Écoles" }).waitFor();
	await isRed(page);
	await page.goto(`${origin}/fr/?q=ecole`);
	await page.getByRole("link", { name: "Écoles" }).nth(1).waitFor();
	await page.locator(".language").click();
	await page.waitForURL(`${origin}/en/?q=ecole`);
	await page.getByRole("searchbox").fill("schools-2");
	await page.waitForURL(`${origin}/en/?q=schools-2`);
	await page.locator('main a[data-layer="schools-2"]').first().waitFor();
	await page.getByText("Office of Maps").first().waitFor();
	assert.equal(faults, []);
	await window.close();
});

test("without JavaScript every layer is in the plain list, with fragments that are there", async (scene) => {
	const { browser, local, origin } = scene;
	await inStep(local);
	const { page, context } = await openWindow(browser, { javaScriptEnabled: false });
	await page.goto(`${origin}/`);
	await page.getByRole("link", { name: "English" }).click();
	await page.getByRole("link", { name: "the plain list of all layers" }).click();
	await page.getByRole("main").getByRole("link").first().click();
	await page.getByText("School districts").first().waitFor();
	const links = page.locator('main a[href*="v0.9/doc/en/"]');
	await links.first().waitFor();
	const answer = await page.request.get(
		new URL((await links.first().getAttribute("href")) ?? "", page.url()).href,
	);
	assert.is(answer.status(), 200);
	assert.ok("layers" in ((await answer.json()) as object));
	await page.goto(`${origin}/schemas/`);
	await page.getByRole("heading", { name: "PUT /register/{smallkey}" }).waitFor();
	await page.getByRole("link", { name: "registration.schema.json" }).first().click();
	assert.match(await page.content(), "json-schema.org/draft-07");
	await context.close();
});

test("axe-core finds nothing serious on a static page, and nothing that the policy refuses is needed on any", async (scene) => {
	const { browser, origin } = scene;
	const axe = await readFile(join(root, "node_modules/axe-core/axe.min.js"), "utf8");
	const { page, context, faults } = await openWindow(browser);
	const pages: [string, string][] = [
		["en/?q=school", "main a"],
		["fr/layer/schools", 'main .map[data-state="drawn"]'],
		["list/", "main ul a"],
		["schemas/", "main dl"],
	];
	for (const [path, sign] of pages) {
		await page.goto(`${origin}/${path}`);
		await page.locator(sign).first().waitFor();
		// The catalogue's own pages: accessibility.test.ts, with the same bundle.
		if (/^(?:en|fr)\//.test(path)) continue;
		await page.evaluate(axe);
		const found = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
		const { violations } = found as { violations: { id: string; impact: string }[] };
		assert.equal(
			violations.filter(({ impact }) => impact === "serious" || impact === "critical"),
			[],
			path,
		);
	}
	assert.equal(faults, []);
	await context.close();
});

runInBrowser(test);
