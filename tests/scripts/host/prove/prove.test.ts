import { mkdtemp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Browser } from "playwright-core";
import * as assert from "uvu/assert";
import { FetchFailure } from "../../../../harvest/net/failure.ts";
import { type Cause, causeOf } from "../../../../registry/causes.ts";
import type { CheckedLayer } from "../../../../registry/judge.ts";
import { buildOutput } from "../../../../scripts/host/output.ts";
import { browserPath, serveFolder } from "../../../../scripts/host/prove/browser.ts";
import type { Drawn } from "../../../../scripts/host/prove/draw.ts";
import { type Proof, type ProveRun, readProofs, runProofs } from "../../../../scripts/host/prove/proofs.ts";
import { reportHtml, reportOf } from "../../../../scripts/host/prove/report.ts";
import { readLayers } from "../../../../service/harvester/layers.ts";
import { processIo } from "../../../../system/terminal/io.ts";
import { blank } from "../../../harvest/pictures.ts";
import { copyLayers } from "../../../helpers/local.ts";
import { sharedSuite, temporaryFolder } from "../../../helpers/world.ts";
import { openBrowser } from "../../../site/browser.ts";
import { drawingNetwork } from "./services.ts";

interface Scene {
	site: Awaited<ReturnType<typeof serveFolder>>;
	layers: CheckedLayer[];
	temporary: string;
	/** For the pictures of one test. */
	folder: string;
}

const test = sharedSuite<Scene>("proofs of layers", async (use) => {
	const { path } = use(await temporaryFolder());
	await copyLayers(path);
	const [folder, dist] = [join(path, "layers"), join(path, "dist")];
	await buildOutput({ folder }, dist, { SITE: "on" });
	const site = await serveFolder(dist);
	use(() => site.close());
	return { site, layers: await readLayers({ folder }, [], processIo()), temporary: path, folder: "" };
});
test.before.each(async (scene) => {
	scene.folder = await mkdtemp(join(scene.temporary, "pictures-"));
});

/** Draws layers of the examples by services of the test. */
function prove({ site, layers, folder }: Scene, smallkeys: string[], more: Partial<ProveRun> = {}) {
	return runProofs({
		site: site.address,
		fetch: drawingNetwork(),
		layers: layers.filter(({ smallkey }) => smallkeys.includes(smallkey)),
		registered: new Set(layers.map(({ smallkey }) => smallkey)),
		folder,
		isAgain: false,
		publicUrl: null,
		day: "2026-03-04",
		signal: new AbortController().signal,
		browser: openBrowser,
		...more,
	});
}

/** The host of a layer's English service. */
function hostOf({ layers }: Scene, smallkey: string): string {
	const layer = layers.find((one) => one.smallkey === smallkey) as CheckedLayer;
	return new URL(layer.registration.en.service_url).host;
}

const browserTest = browserPath ? test : test.skip;

browserTest("pictures of a WMS and features are drawn, and each has a small picture", async (scene) => {
	const proofs = await prove(scene, ["nhn", "drought"]);
	const [pictures, features] = [proofs.get("nhn"), proofs.get("drought")];
	assert.is(pictures?.since, undefined);
	assert.is(pictures?.langs.en?.cause, undefined);
	assert.ok(pictures?.langs.fr && !pictures.langs.fr.cause, "the French service is another one");
	assert.ok((pictures?.langs.en?.share ?? 0) > 0.1);
	assert.is(pictures?.langs.en?.features, undefined);
	assert.is(features?.langs.en?.features, 81);
	for (const proof of proofs.values()) {
		const bytes = await readFile(join(scene.folder, proof.picture ?? ""));
		assert.is(bytes.toString("latin1", 8, 12), "WEBP");
		assert.ok(bytes.length > 500 && bytes.length <= 12_000, `${bytes.length} bytes`);
	}
	assert.equal(await readProofs(scene.folder), proofs, "kept");
});

browserTest(
	"a service that fails, an empty picture, and what a page may not read are not drawn",
	async (scene) => {
		await prove(scene, ["drought", "railway"]);
		const picture = (await readProofs(scene.folder)).get("drought")?.picture;
		const network = drawingNetwork({
			[hostOf(scene, "drought")]: () => Response.json({ features: [] }),
			[hostOf(scene, "nhn")]: () =>
				new Response(new Uint8Array(blank), { headers: { "Content-Type": "image/png" } }),
		});
		const proofs = await prove(scene, ["drought", "nhn"], {
			fetch: network,
			day: "2026-03-11",
		});
		assert.is(proofs.get("drought")?.since, "2026-03-11");
		assert.is(proofs.get("drought")?.picture, picture, "the last picture stays");
		assert.equal(proofs.get("drought")?.langs.en?.cause, causeOf("cors"));
		assert.equal(proofs.get("nhn")?.langs.en?.cause, causeOf("nothing"));
		assert.is(proofs.get("nhn")?.since, "2026-03-11");
		assert.is(proofs.get("railway")?.since, undefined, "not drawn again");
		const later = await prove(scene, ["nhn"], { fetch: network, day: "2026-03-18" });
		assert.is(later.get("nhn")?.since, "2026-03-11", "since the first time");
	},
);

browserTest("a background that comes late is not taken for the layer", async (scene) => {
	const network = drawingNetwork({
		[hostOf(scene, "radar-rain")]: () =>
			new Response(new Uint8Array(blank), { headers: { "Content-Type": "image/png" } }),
	});
	const browser = await openBrowser();
	const newContext = browser.newContext.bind(browser);
	browser.newContext = async (options) => {
		const context = await newContext(options);
		let come = () => {};
		const moment = new Promise<void>((resolve) => {
			come = resolve;
		});
		await context.exposeFunction("opacityChanges", () => come());
		await context.addInitScript(() => {
			const { opacityChanges } = window as unknown as { opacityChanges: () => void };
			addEventListener("input", () => opacityChanges(), true);
		});
		await context.route(/land-light/, async (route) => {
			await moment;
			await route.continue();
		});
		return context;
	};
	const proofs = await prove(scene, ["radar-rain"], { fetch: network, browser: async () => browser });
	assert.equal(proofs.get("radar-rain")?.langs.en?.cause, causeOf("nothing"));
});

browserTest("a proof keeps by code why nothing can be seen, and what https sites block", async (scene) => {
	const answers = (body: string, type: string) => () =>
		new Response(body, { headers: { "Content-Type": type, "Access-Control-Allow-Origin": "*" } });
	const exception =
		"<ServiceExceptionReport><ServiceException>InvalidSRS: 3978</ServiceException></ServiceExceptionReport>";
	const network = drawingNetwork({
		[hostOf(scene, "nhn")]: () =>
			new Response("<h1>Hello</h1>", { headers: { "Content-Type": "text/html" } }),
		[hostOf(scene, "radar-rain")]: answers(exception, "text/xml"),
	});
	const keys = ["nhn", "radar-rain", "drought"];
	const proofs = await prove(scene, keys, { fetch: network, publicUrl: "https://maps.example" });
	const causesOf = Object.fromEntries([...proofs].map(([key, { langs }]) => [key, langs.en?.cause]));
	assert.equal(causesOf, {
		drought: causeOf("not-secure"),
		nhn: causeOf("no-picture"),
		"radar-rain": causeOf("reference", "InvalidSRS: 3978"),
	});
	assert.ok(proofs.get("drought")?.picture, "an http site shows it");
	const blocked = await prove(scene, ["drought"], { isAgain: true, publicUrl: "http://maps.example" });
	assert.is(blocked.get("drought")?.since, undefined);
});

/** What a layer looks like that is drawn without a browser. */
const drawn: Drawn = { share: 0.5, ms: 1, picture: new Uint8Array(600) };

/** A browser that draws nothing. */
async function openNothing(): Promise<Browser> {
	let isOpen = true;
	const close = async () => {
		isOpen = false;
	};
	return { isConnected: () => isOpen, close } as Partial<Browser> as Browser;
}

/** Like `prove`, where a function draws in place of the browser. */
function proveWithout(
	scene: Scene,
	smallkeys: string[],
	draw: ProveRun["draw"],
	more: Partial<ProveRun> = {},
) {
	return prove(scene, smallkeys, { browser: openNothing, draw, ...more });
}

test("an interrupted run continues where it ended, and a removed layer is forgotten", async (scene) => {
	const controller = new AbortController();
	const asked: string[] = [];
	const draw: ProveRun["draw"] = async (_, smallkey) => {
		asked.push(smallkey);
		controller.abort();
		return drawn;
	};
	const keys = ["nacei-1", "nacei-2", "nacei-3"];
	const first = await proveWithout(scene, keys, draw, { signal: controller.signal });
	assert.equal([...first.keys()], ["nacei-1"], "one at a time of one host");
	asked.length = 0;
	const second = await proveWithout(scene, keys, draw);
	assert.equal([...second.keys()].sort(), keys);
	assert.equal([...new Set(asked)], ["nacei-2", "nacei-3"], "not drawn again");
	asked.length = 0;
	await proveWithout(scene, ["nacei-1"], draw);
	assert.equal(asked, [], "drawn today");
	await proveWithout(scene, ["nacei-1"], draw, { isAgain: true });
	assert.equal([...new Set(asked)], ["nacei-1"]);
	const rest = await proveWithout(scene, [], draw, { registered: new Set(["nacei-2"]) });
	assert.equal([...rest.keys()], ["nacei-2"]);
	const files = await readdir(scene.folder, { recursive: true });
	const pictures = files.filter((name) => name.endsWith(".webp"));
	assert.equal(pictures, [second.get("nacei-2")?.picture], "and so are their pictures");
});

test("a layer waits for its turn at the hosts of both languages", async (scene) => {
	const hostIn = (address: string) => new URL(address).host;
	const [other, own] = ["drought", "nacei-1"].map((key) => scene.layers.find((one) => one.smallkey === key));
	assert.ok(own && other);
	const address = other.registration.en.service_url;
	const french = { ...own.registration.fr, service_url: address };
	const moved = { ...own, registration: { ...own.registration, fr: french } } as CheckedLayer;
	const hosts: string[] = [];
	const draw: ProveRun["draw"] = async (_, smallkey, lang) => {
		const { registration } = smallkey === "nacei-1" ? moved : other;
		const host = hostIn(registration[lang].service_url);
		if (hosts.at(-1) !== host) hosts.push(host);
		await setImmediate();
		return drawn;
	};
	const proofs = await proveWithout(scene, [], draw, { layers: [moved, other] });
	assert.equal([...proofs.keys()], ["nacei-1", "drought"]);
	assert.equal(hosts, [hostIn(own.registration.en.service_url), hostIn(address)]);
});

test("a layer that crashes the browser is reported as not drawn, and all others are drawn", async (scene) => {
	const draw: ProveRun["draw"] = async ({ browser }, smallkey) => {
		if (smallkey === "nhn") await browser.close();
		await setImmediate();
		if (!browser.isConnected()) throw new Error("Target page, context or browser has been closed");
		return drawn;
	};
	const proofs = await proveWithout(scene, ["nhn", "drought", "nacei-1", "nacei-2"], draw);
	assert.equal([...proofs.keys()].sort(), ["drought", "nacei-1", "nacei-2", "nhn"]);
	const sure = [...proofs].filter(([, { since }]) => since === undefined);
	assert.equal(sure.map(([smallkey]) => smallkey).sort(), ["drought", "nacei-1", "nacei-2"]);
	assert.is(proofs.get("nhn")?.langs.en?.cause?.code, "browser-ended");
	assert.equal(await readProofs(scene.folder), proofs, "kept");
});

browserTest("what the guarded fetch refuses does not reach the page", async (scene) => {
	const proofs = await prove(scene, ["nhn"], {
		fetch: async () => {
			throw new FetchFailure("address", causeOf("not-public", "10.0.0.7"));
		},
	});
	assert.equal(proofs.get("nhn")?.langs.en?.cause, causeOf("not-public", "10.0.0.7"));
	assert.equal((await readdir(scene.folder)).sort(), ["proofs.json"], "no picture");
});

test("the report counts what draws and what does not, in both languages, and escapes what services say", async () => {
	const day = "2026-03-04";
	const drawn = { share: 0.25, ms: 1900 };
	const no = (cause: Cause) => ({ cause, share: 0, ms: 1900 });
	const says = no(causeOf("exception", "<b>no</b>"));
	const proofs = new Map<string, Proof>([
		["good", { day, langs: { en: drawn }, picture: "go/good.0.webp" }],
		["bad", { day, since: "2026-02-25", langs: { en: says, fr: drawn } }],
		["gone", { day, langs: {} }],
		["blank", { day, since: "2026-03-01", langs: { en: no(causeOf("nothing")) } }],
	]);
	const layers = new Map(
		["good", "bad", "new", "blank"].map((key) => {
			return [key, { title: { en: `The ${key}`, fr: `La ${key}` }, owner: "@org/<maps>" }];
		}),
	);
	const report = reportOf(proofs, layers);
	const keysOf = (rows: { smallkey: string }[]) => rows.map(({ smallkey }) => smallkey);
	const { layers: all, unknown } = report;
	assert.equal(
		[all, unknown, keysOf(report.drawn), keysOf(report.notDrawn)],
		[4, 1, ["good"], ["bad", "blank"]],
	);
	const [en, fr] = [reportHtml(report, "en", "https://maps.example"), reportHtml(report, "fr", "")];
	assert.match(en, "<p>draws nothing on the map</p>");
	assert.match(fr, "<p>ne dessine rien sur la carte</p>");
	assert.match(en, '<h3><a href="https://maps.example/en/layer/blank">The blank</a></h3>');
	assert.match(fr, "<h3>La blank</h3>", "the address of the site is not known");
	assert.match(fr, "<p>responsable\u00a0: @org/&lt;maps&gt;</p>");
	assert.match(en, "1 of 4 layers draw. 1 was not drawn by any run yet.");
	assert.match(en, "not drawn since 2026-02-25");
	assert.match(en, "English only: answers with an exception: &lt;b&gt;no&lt;/b&gt;");
	assert.match(
		en,
		'<img src="go/good.0.webp" alt="Map of The good" width="240" height="180" loading="lazy">',
	);
	assert.match(fr, "1 couche sur 4 s’affiche. 1 n’a pas encore été dessinée.");
	assert.match(fr, "25\u00a0% de la carte en couleur, 1,9\u00a0s");
	assert.is(en.match(/<img/g)?.length, 1, "nothing is shown where there is no picture");
});

test.run();
