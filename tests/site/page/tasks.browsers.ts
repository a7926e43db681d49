import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import type { Lang } from "../../../registry/smallkey.ts";
import { translator } from "../../../site/text/translate.ts";
import { Peer } from "../../harvest/peer.ts";
import { siteTexts } from "../../helpers/text-tables.ts";
import { sharedSuite } from "../../helpers/world.ts";
import { openBrowser, openWindow, runInBrowser } from "../browser.ts";
import { sendJson, serveExport, serveWms } from "../map-services.ts";
import { SiteWorld, wmsAt } from "../site-world.ts";

type Text = keyof typeof siteTexts.en;

/** A person at a page, whose steps are counted: what is typed, chosen or pressed. */
class Person {
	steps = 0;

	constructor(
		readonly page: Page,
		readonly lang: Lang,
		readonly world: SiteWorld,
	) {}

	/** A text of the page, in its language. */
	t(text: Text, ...values: string[]): string {
		return translator(this.lang, siteTexts[this.lang]).t(text, ...values);
	}

	/** Opens a page; that is no step. */
	async at(path: string): Promise<void> {
		await this.page.goto("about:blank");
		await this.page.goto(this.world.url(`${this.lang}/${path}`));
		this.steps = 0;
	}

	async type(label: Text, text: string): Promise<void> {
		this.steps += 1;
		await this.page.getByLabel(this.t(label), { exact: true }).fill(text);
	}

	async choose(label: Text, text: string): Promise<void> {
		this.steps += 1;
		await this.page.getByLabel(this.t(label), { exact: true }).selectOption(text);
	}

	async press(role: "button" | "link", name: string): Promise<void> {
		this.steps += 1;
		await this.page.getByRole(role, { name, exact: true }).first().click();
	}
}

const maps = { en: "Office of Maps", fr: "Bureau des cartes" };

const test = sharedSuite("six tasks", async (use) => {
	const browser = use(await openBrowser());
	const services = use(await Peer.open());
	serveWms(services, "/wms", { info: "x" });
	const layerAt = (name: string) => ({ name, type: "Feature Layer", geometryType: "esriGeometryPoint" });
	const extent = { xmin: -76, ymin: 45, xmax: -75, ymax: 46, spatialReference: { wkid: 4326 } };
	const service = (lang: Lang) => `/arcgis/rest/services/Parks_${lang}/MapServer`;
	services.on(`${service("en")}/3`, sendJson({ id: 3, ...layerAt("Campgrounds of parks"), extent }));
	services.on(`${service("fr")}/3`, sendJson({ id: 3, ...layerAt("Campings des parcs"), extent }));
	for (const lang of ["en", "fr"] as const) serveExport(services, service(lang), [0, 150, 0]);
	const layer = (smallkey: string, en: string, fr: string, more = {}) => ({
		smallkey,
		registration: wmsAt(`${services.origin}/wms`, "l", [en, fr], { feature_info_type: "text/plain" }),
		sender: maps,
		...more,
	});
	const down = { state: "down", since: "2026-W09", cause: "answers with status 503", repair: true } as const;
	const layers = [
		layer("lakes", "Lakes", "Lacs"),
		layer("roads", "Roads", "Routes", { health: down }),
		layer("radon", "Radon", "Radon", { sender: "Health" }),
	];
	const change = (smallkey: string, day: number) => ({
		commit: String(day).repeat(40),
		date: `2026-03-0${day}T12:00:00Z`,
		what: {
			smallkey,
			kind: "changed" as const,
			fields: [{ field: "/en/layer", from: "old", to: "l" }],
		},
	});
	const settings = { canSend: true };
	const world = use(await SiteWorld.open(layers, settings, "", [change("lakes", 4), change("radon", 3)]));
	world.server.on("/register/campgrounds-parks", (request, response) => {
		request.resume();
		response.writeHead(201, { "Content-Type": "application/json" }).end("{}");
	});
	return { browser, maps: services, world };
});

interface Context {
	maps: Peer;
	world: SiteWorld;
}

/** Each task in a language, and its number of steps. */
const plays: [name: string, steps: number, play: (person: Person, context: Context) => Promise<void>][] = [
	[
		"find a layer by a word, and open it",
		2,
		async (person) => {
			await person.at("");
			await person.type("search-layers", person.lang === "en" ? "lake" : "lac");
			await person.page.getByText(person.t("layer-count-one", "1"), { exact: true }).waitFor();
			await person.press("link", person.lang === "en" ? "Lakes" : "Lacs");
			await person.page.locator('.map[data-state="drawn"]').waitFor();
		},
	],
	[
		"copy the smallkey of a layer from the list",
		2,
		async (person) => {
			await person.at("");
			await person.type("search-layers", "radon");
			await person.page.getByRole("link", { name: "Radon", exact: true }).first().waitFor();
			await person.press("button", `${person.t("copy-smallkey")}${person.t("colon")} radon`);
		},
	],
	[
		"register a layer of an ArcGIS service, from its address alone to sent",
		4,
		async (person, { maps, world }) => {
			const { page } = person;
			await person.at("?page=draft");
			const address = `${maps.origin}/arcgis/rest/services/Parks_en/MapServer/3`;
			await person.type("source-address", address);
			await page.locator(".twin").getByText("Campings des parcs").waitFor();
			assert.is(await page.locator("main .bad, main [aria-invalid=true]").count(), 0, "no error on the way");
			await person.type("sender-id", "office");
			await person.type("secret", "k");
			const sent = page.waitForRequest((request) => request.method() === "PUT");
			await person.press("button", person.t("sign-and-send"));
			await page.getByText(person.t("accepted", "201")).waitFor();
			const request = await sent;
			assert.is(new URL(request.url()).href, world.url("register/campgrounds-parks"));
			assert.equal(JSON.parse(request.postData() ?? ""), {
				version: "1.0.0",
				payload_type: "feature",
				en: { service_url: address, service_name: "Campgrounds of parks" },
				fr: { service_url: address.replace("_en", "_fr"), service_name: "Campings des parcs" },
			});
		},
	],
	[
		"see what a publisher’s layers have changed, with the values before and after",
		2,
		async (person) => {
			await person.at("");
			await person.press("link", person.t("changes"));
			await person.choose("publisher", maps[person.lang]);
			await person.page.getByText(person.t("change-count-one", "1")).waitFor();
			assert.equal(await person.page.locator("li:not([hidden]) del").allInnerTexts(), ["old"]);
		},
	],
	[
		"find what is wrong with a publisher’s layers, since when, and whether a repair waits",
		2,
		async (person) => {
			await person.at("");
			await person.press("link", person.t("health"));
			await person.press("link", maps[person.lang]);
			const row = person.page.locator("table").first().getByRole("row").nth(1);
			assert.match(await row.innerText(), "503");
			assert.match(await row.innerText(), "2026-02-23");
			assert.match(await row.innerText(), person.t("repair-proposed"));
		},
	],
	[
		"take the table of a publisher’s layers home",
		3,
		async (person) => {
			await person.at("");
			await person.press("link", person.t("health"));
			await person.press("link", maps[person.lang]);
			const download = person.page.waitForEvent("download");
			await person.press("link", person.t("table-csv"));
			assert.is((await download).suggestedFilename(), "office-of-maps.csv");
		},
	],
];

for (const lang of ["en", "fr"] as const) {
	test(`six tasks, each in few steps: ${lang}`, async (context) => {
		const { browser, world } = context;
		const { page, context: window, faults } = await openWindow(browser, { locale: `${lang}-CA` });
		const person = new Person(page, lang, world);
		for (const [name, steps, play] of plays) {
			await play(person, context);
			assert.is(person.steps, steps, `${lang}: ${name}`);
		}
		assert.equal(faults, []);
		await window.close();
	});
}

runInBrowser(test);
