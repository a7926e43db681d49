import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { CheckedLayer } from "../../../../registry/judge.ts";
import { buildOutput } from "../../../../scripts/host/output.ts";
import { browserPath, serveFolder } from "../../../../scripts/host/prove/browser.ts";
import type { Drawn } from "../../../../scripts/host/prove/draw.ts";
import { type ProveRun, readProofs, runProofs } from "../../../../scripts/host/prove/proofs.ts";
import { reportHtml, reportOf } from "../../../../scripts/host/prove/report.ts";
import { readLayers } from "../../../../service/harvester/layers.ts";
import { processIo } from "../../../../system/terminal/io.ts";
import { blank } from "../../../harvest/pictures.ts";
import { copyLayers, temporaryFolder } from "../../../local.ts";
import { openBrowser } from "../../../site/browser.ts";
import { drawingNetwork } from "./services.ts";

interface Scene {
	site: Awaited<ReturnType<typeof serveFolder>>;
	layers: CheckedLayer[];
	folder: string;
	remove: (() => Promise<void>)[];
}

const test = suite<Scene>("proofs of layers");

test.before(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.remove = [remove];
	await copyLayers(path);
	const folder = join(path, "layers");
	scene.layers = await readLayers({ folder }, [], processIo());
	await buildOutput({ folder }, join(path, "dist"), { SITE: "on" });
	scene.site = await serveFolder(join(path, "dist"));
});
test.after(async ({ site, remove }) => {
	site.close();
	for (const one of remove) await one();
});
test.before.each(async (scene) => {
	const { path, remove } = await temporaryFolder();
	scene.folder = path;
	scene.remove.push(remove);
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
		day: "2026-03-04",
		signal: new AbortController().signal,
		browser: openBrowser,
		...more,
	});
}

const browserTest = browserPath ? test : test.skip;

browserTest("pictures of a WMS and features are drawn, and each has a small picture", async (scene) => {
	const proofs = await prove(scene, ["nhn", "drought"]);
	const [pictures, features] = [proofs.get("nhn"), proofs.get("drought")];
	assert.is(pictures?.since, undefined);
	assert.is(pictures?.langs.en?.isDrawn, true);
	assert.is(pictures?.langs.fr?.isDrawn, true, "the French service is another one");
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
		const host = (smallkey: string) => {
			const layer = scene.layers.find((one) => one.smallkey === smallkey) as CheckedLayer;
			return new URL(layer.registration.en.service_url).host;
		};
		const network = drawingNetwork({
			[host("drought")]: () => Response.json({ features: [] }),
			[host("nhn")]: () => new Response(new Uint8Array(blank), { headers: { "Content-Type": "image/png" } }),
		});
		const proofs = await prove(scene, ["drought", "nhn"], {
			fetch: network,
			day: "2026-03-11",
		});
		assert.is(proofs.get("drought")?.since, "2026-03-11");
		assert.is(proofs.get("drought")?.picture, picture, "the last picture stays");
		assert.match(proofs.get("drought")?.langs.en?.text ?? "", "could not be reached from this page");
		assert.is(proofs.get("nhn")?.langs.en?.isDrawn, false);
		assert.is(proofs.get("nhn")?.since, "2026-03-11");
		assert.is(proofs.get("railway")?.since, undefined, "not drawn again");
		const later = await prove(scene, ["nhn"], { fetch: network, day: "2026-03-18" });
		assert.is(later.get("nhn")?.since, "2026-03-11", "since the first time");
	},
);

/** What a layer looks like that is drawn without a browser. */
const drawn: Drawn = { isDrawn: true, share: 0.5, ms: 1, text: "Drawn.", picture: new Uint8Array(600) };

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
	const hostOf = (address: string) => new URL(address).host;
	const [other, own] = ["drought", "nacei-1"].map((key) => scene.layers.find((one) => one.smallkey === key));
	assert.ok(own && other);
	const address = other.registration.en.service_url;
	const french = { ...own.registration.fr, service_url: address };
	const moved = { ...own, registration: { ...own.registration, fr: french } } as CheckedLayer;
	const hosts: string[] = [];
	const draw: ProveRun["draw"] = async (_, smallkey, lang) => {
		const { registration } = smallkey === "nacei-1" ? moved : other;
		const host = hostOf(registration[lang].service_url);
		if (hosts.at(-1) !== host) hosts.push(host);
		await setImmediate();
		return drawn;
	};
	const proofs = await proveWithout(scene, [], draw, { layers: [moved, other] });
	assert.equal([...proofs.keys()], ["nacei-1", "drought"]);
	assert.equal(hosts, [hostOf(own.registration.en.service_url), hostOf(address)]);
});

test("a layer that ends the browser is not drawn, and all others are", async (scene) => {
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
	const { langs } = proofs.get("nhn") as NonNullable<ReturnType<typeof proofs.get>>;
	assert.match(langs.en?.text ?? "", "The browser could not finish drawing this layer.");
	assert.match(langs.fr?.text ?? "", "Le navigateur n’a pas pu finir de dessiner cette couche.");
	assert.equal(await readProofs(scene.folder), proofs, "kept");
});

browserTest("what the guarded fetch refuses does not reach the page", async (scene) => {
	const proofs = await prove(scene, ["nhn"], {
		fetch: async () => {
			throw new Error("10.0.0.7 is not an address of the public internet");
		},
	});
	assert.is(proofs.get("nhn")?.langs.en?.isDrawn, false);
	assert.equal((await readdir(scene.folder)).sort(), ["proofs.json"], "no picture");
});

test("the report counts what draws and what does not, in both languages, and escapes what services say", async () => {
	const seen = (isDrawn: boolean, text: string) => ({ isDrawn, share: isDrawn ? 0.25 : 0, ms: 1900, text });
	const proofs = new Map([
		["good", { day: "2026-03-04", langs: { en: seen(true, "Drawn.") }, picture: "go/good.0.webp" }],
		[
			"bad",
			{ day: "2026-03-04", since: "2026-02-25", langs: { en: seen(false, "<b>no</b>"), fr: seen(true, "") } },
		],
		["gone", { day: "2026-03-04", langs: {} }],
		[
			"blank",
			{
				...{ day: "2026-03-04", since: "2026-03-01" },
				langs: {
					en: { ...seen(false, "Drawn."), isBlank: true as const },
					fr: { ...seen(false, "Dessinée."), isBlank: true as const },
				},
			},
		],
	]);
	const layers = new Map(
		["good", "bad", "new", "blank"].map((key) => [key, { en: `The ${key}`, fr: `La ${key}` }]),
	);
	const report = reportOf(proofs, layers);
	const keysOf = (rows: { smallkey: string }[]) => rows.map(({ smallkey }) => smallkey);
	const { layers: all, unknown } = report;
	assert.equal(
		[all, unknown, keysOf(report.drawn), keysOf(report.notDrawn)],
		[4, 1, ["good"], ["bad", "blank"]],
	);
	const [en, fr] = [reportHtml(report, "en"), reportHtml(report, "fr")];
	assert.match(en, "<p>Nothing of it is visible on the map.</p>");
	assert.match(fr, "<p>Rien n’en est visible sur la carte.</p>");
	assert.not.match(fr, "Dessinée.");
	assert.match(en, "1 of 4 layers draw. 1 was not drawn by any run yet.");
	assert.match(en, "not drawn since <time>2026-02-25</time>");
	assert.match(en, "English only: &lt;b&gt;no&lt;/b&gt;");
	assert.match(
		en,
		'<img src="go/good.0.webp" alt="Map of The good" width="240" height="180" loading="lazy">',
	);
	assert.match(fr, "1 couche sur 4 s’affiche. 1 n’a pas encore été dessinée.");
	assert.match(fr, "25\u00a0% de la carte en couleur, 1,9\u00a0s");
	assert.is(en.match(/<img/g)?.length, 1, "nothing is shown where there is no picture");
});

test.run();
