import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { Peer } from "../../extensions/harvest/peer.ts";
import { listen } from "../../helpers/listen.ts";
import { Local, secrets } from "../../helpers/local.ts";
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

runInBrowser(test);
