import * as assert from "uvu/assert";
import { sign } from "../../api/signature.ts";
import { checkResult } from "../../extensions/harvest/health.ts";
import { causeOf } from "../../site/data/health.ts";
import { Peer } from "../extensions/harvest/peer.ts";
import { eventually } from "../helpers/wait.ts";
import { assertColour, isDrawn, openWindow, pageSuite, sees } from "./browser.ts";
import { blue, green, red, sendJson, serveExport, serveWms } from "./map-services.ts";
import { SiteWorld, wmsLayer } from "./site-world.ts";

const service = (lang: string) => `/arcgis/rest/services/Parks_${lang}/MapServer`;

function layersOf(maps: Peer) {
	const sender = { en: "Rivers Canada", fr: "Rivières Canada" };
	const rivers = Array.from({ length: 12 }, (_, at) =>
		wmsLayer(`river-${at}`, "https://maps.example.ca/wms", [`Rivers ${at}`, `Rivières ${at}`], { sender }),
	);
	const health = { ...checkResult("down", causeOf("status", 503)), since: "2026-W09" };
	return [
		...rivers,
		wmsLayer("schools", `${maps.origin}/wms`, ["Schools <b>", "Écoles du Québec"]),
		wmsLayer("sick", `${maps.origin}/says-no`, ["Glaciers", "Glaciers du Canada"], { health }),
	];
}

const test = pageSuite("the catalogue in a browser", async (use) => {
	const maps = use(await Peer.open());
	serveWms(maps, "/wms");
	serveWms(maps, "/says-no", { exception: "Layer <b>gone</b> is not here" });
	const extent = { xmin: -76, ymin: 45, xmax: -75, ymax: 46, spatialReference: { wkid: 4326 } };
	const layer = { id: 3, type: "Feature Layer", geometryType: "esriGeometryPoint", extent };
	maps.on(`${service("en")}/3`, sendJson({ ...layer, name: "Campgrounds of parks" }));
	maps.on(`${service("fr")}/3`, sendJson({ ...layer, name: "Campings des parcs" }));
	for (const lang of ["en", "fr"]) serveExport(maps, service(lang), green);
	const world = use(await SiteWorld.open(layersOf(maps), { canSend: true }, "/base"));
	return { maps, world };
});

test("a search stays in the address, through a layer and the other language", async ({ page, world }) => {
	await page.goto(world.url("en/"));
	await sees(page, "14 layers");
	await page.getByRole("searchbox").fill("ecole");
	await sees(page, "1 layer");
	await page.waitForURL(world.url("en/?q=ecole"));
	await page.reload();
	await sees(page, "1 layer");
	assert.is(await page.getByRole("searchbox").inputValue(), "ecole");
	await page.locator(".results h2 a").first().click();
	await page.getByRole("heading", { level: 1, name: "Schools" }).waitFor();
	await page.getByRole("link", { name: "Français" }).click();
	await page.getByRole("heading", { level: 1, name: "Écoles du Québec" }).waitFor();
	await page.waitForURL(world.url("fr/layer/schools?q=ecole"));
	await page.goBack();
	await page.goBack();
	await page.waitForURL(world.url("en/?q=ecole"));
	await sees(page, "1 layer");
	await page.getByRole("searchbox").fill("nothing like this");
	await page.getByText("No layer matches.").waitFor();
});

test("filters work without a text, together with one, and can be taken away", async ({ page, world }) => {
	await page.goto(world.url("en/"));
	await page.getByLabel("Health").selectOption({ label: "The service fails (1)" });
	await sees(page, "1 layer");
	assert.match(await page.locator(".results li").innerText(), /Glaciers[\s\S]*The service fails/);
	await page.getByRole("button", { name: "Remove all filters" }).click();
	await page.getByLabel("Publisher").selectOption({ label: "Rivers Canada (12)" });
	await sees(page, "12 layers");
	const rows = page.locator(".results li");
	assert.is(await rows.count(), 10);
	await page.getByRole("button", { name: "Show more" }).click();
	await rows.nth(11).waitFor();
	await page.getByRole("searchbox").fill("rivers 7");
	await sees(page, "1 layer");
	assert.is(await rows.locator("h2").innerText(), "Rivers 7");
});

test("a layer's page has both titles, its state and texts to copy", async ({ page, world }) => {
	await page.goto(world.url("en/layer/sick"));
	await page.getByText("since the week of February 23, 2026").waitFor();
	await page.getByText("Glaciers du Canada").first().waitFor();
	await page.getByText("RAMP 4.0: its service").click();
	const copied = page.locator("details[open] pre");
	assert.match(await copied.innerText(), `configServiceURL = "${world.url("v0.9/")}"`);
	await page.getByRole("button", { name: "Copy: RAMP 4.0" }).waitFor();
	await page.goto(world.url("en/?layer=not-there"));
	await page.getByRole("heading", { name: "There is no layer not-there." }).waitFor();
});

test("a map draws the service where it belongs, and names what it refuses", async ({ maps, page, world }) => {
	await page.goto(world.url("en/layer/schools"));
	await isDrawn(page);
	await assertColour(page, 0.25, 0.5, red);
	await assertColour(page, 0.75, 0.5, blue);
	const request = maps.asked.findLast((target) => target.includes("GetMap")) ?? "";
	const { searchParams } = new URL(request, maps.origin);
	assert.equal([searchParams.get("CRS"), searchParams.get("LAYERS")], ["EPSG:3978", "schools"]);
	await page.goto(world.url("en/layer/sick"));
	await isDrawn(page, "failed");
	const said = `${new URL(maps.origin).host} answers with an exception: Layer <b>gone</b> is not here`;
	assert.is(await page.locator(".mapstatus").innerText(), said);
});

test("an address becomes a draft in two languages, signed and sent", async ({ maps, page, world }) => {
	const answer = { smallkey: "campgrounds-parks", warnings: ["/en: <b>odd</b>"] };
	world.server.on("/base/register/campgrounds-parks", (request, response) => {
		request.resume();
		response.writeHead(201, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
	});
	await page.goto(world.url("en/?page=draft"));
	const address = `${maps.origin}${service("en")}/3`;
	await page.locator("#source").fill(address);
	await page.locator("#source").press("Enter");
	await page.getByLabel("Smallkey").fill("campgrounds-parks");
	await page.getByText("The layer in the other language is Campings des parcs").waitFor();
	await page.getByText("The registration is in order.").waitFor();
	await isDrawn(page);
	await assertColour(page, 0.5, 0.5, green);
	await eventually(() => page.url().includes("#draft="));
	await page.getByLabel("Sender id").fill("jstest");
	await page.getByLabel("Secret").fill("test_-k");
	const sending = page.waitForRequest((request) => request.method() === "PUT");
	await page.getByRole("button", { name: "Sign and send" }).click();
	await page.getByText("Accepted (201).").waitFor();
	await page.getByText("/en: <b>odd</b>").waitFor();
	const sent = await sending;
	const body = Buffer.from(sent.postData() ?? "");
	assert.equal(JSON.parse(body.toString()), {
		version: "1.0.0",
		payload_type: "feature",
		en: { service_url: address, service_name: "Campgrounds of parks" },
		fr: { service_url: address.replace("_en", "_fr"), service_name: "Campings des parcs" },
	});
	const { authorization, timestamp = "" } = await sent.allHeaders();
	const { pathname: path } = new URL(sent.url());
	assert.is(authorization, await sign("test_-k", { path, sender: "jstest", timestamp, body }));
	const kept = await page.evaluate(() =>
		JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href]),
	);
	assert.not.match(kept, /test_-k/);
});

test("without scripts every layer is in the plain list", async ({ browser, world }) => {
	const { page, context } = await openWindow(browser, { javaScriptEnabled: false });
	await page.goto(world.url("index.html"));
	await page.getByRole("link", { name: "English" }).click();
	await page.getByRole("main").getByRole("link", { name: "Plain list" }).click();
	await page.getByRole("main").getByRole("link", { name: "Schools" }).click();
	await page.getByRole("heading", { level: 1, name: "Schools" }).waitFor();
	const link = page.locator('main a[href*="v0.9/doc/en/"]').first();
	const address = new URL((await link.getAttribute("href")) ?? "", page.url()).href;
	const fragment = (await (await page.request.get(address)).json()) as object;
	assert.ok("layers" in fragment);
	await context.close();
});

test("the root and the pages speak French to those who read it", async ({ browser, world }) => {
	const { page, context } = await openWindow(browser, { locale: "fr-CA" });
	await page.goto(world.url("?q=glaciers#x"));
	await page.waitForURL(world.url("fr/?q=glaciers#x"));
	await sees(page, "1 couche");
	await page.locator(".results").getByText("Le service est en panne").waitFor();
	await context.close();
});

test.run();
