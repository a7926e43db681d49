import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { encode } from "fast-png";
import * as assert from "uvu/assert";
import { readLayers } from "../../../extensions/harvest/harvester/layers.ts";
import { browserPath, openBrowser as openLimitedBrowser } from "../../../extensions/prove/browser.ts";
import { serveFolder } from "../../../extensions/prove/commands/prove.ts";
import { drawLayer } from "../../../extensions/prove/draw.ts";
import { type ProveRun, runProofs } from "../../../extensions/prove/proofs.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { processIo } from "../../../scripts/main.ts";
import { buildOutput } from "../../../site/build/output.ts";
import { causeOf } from "../../../site/data/health.ts";
import { readProofs } from "../../../site/data/proofs.ts";
import { copyLayers } from "../../helpers/local.ts";
import { runUnless, sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { openBrowser } from "../../site/browser.ts";

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
	const layers = await readLayers({ folder }, processIo());
	return { site, layers, temporary: path, folder: "" };
});
test.before.each(async (scene) => {
	scene.folder = await mkdtemp(join(scene.temporary, "pictures-"));
});

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
		startBrowser: openBrowser,
		draw: drawLayer,
		...more,
	});
}

function hostOf({ layers }: Scene, smallkey: string) {
	const layer = layers.find((candidate) => candidate.smallkey === smallkey) as CheckedLayer;
	return new URL(layer.registration.en.service_url).host;
}

const open = { "Access-Control-Allow-Origin": "*" };

function image(width: number, height: number, colour: readonly number[] = [0, 0, 0, 0]) {
	const data = new Uint8Array(width * height * 4).map((_, at) => colour[at % 4] ?? 0);
	const bytes = new Uint8Array(encode({ width, height, data, channels: 4 }));
	return new Response(bytes, { headers: { ...open, "Content-Type": "image/png" } });
}

/** A network with map services that draw any layer. @param exceptions host → its answer */
function drawingNetwork(exceptions: Readonly<Record<string, () => Response>> = {}): typeof fetch {
	return async (input) => {
		const address = new URL(String(input instanceof Request ? input.url : input));
		const exception = exceptions[address.host];
		if (exception) return exception();
		const given = new Map([...address.searchParams].map(([name, value]) => [name.toLowerCase(), value]));
		const numbers = (name: string) => (given.get(name) ?? "").split(",").map(Number);
		if (/\/\d+\/query$/.test(address.pathname)) {
			const [xmin = 0, ymin = 0, xmax = 0, ymax = 0] = numbers("geometry");
			const features = Array.from({ length: 81 }, (_, at) => {
				const [x, y] = [((at % 9) + 0.5) / 9, (Math.floor(at / 9) + 0.5) / 9];
				const geometry = { x: xmin + x * (xmax - xmin), y: ymin + y * (ymax - ymin) };
				return { attributes: { OBJECTID: at }, geometry };
			});
			return Response.json({ features }, { headers: open });
		}
		const [width = 40, height = 20] = given.has("size") ? numbers("size") : [];
		return image(
			Number(given.get("width") ?? width),
			Number(given.get("height") ?? height),
			[178, 34, 80, 255],
		);
	};
}

test("pictures of a WMS and features are drawn, and each has a small picture", async (scene) => {
	const proofs = await prove(scene, ["nhn", "drought"]);
	for (const proof of proofs.values()) {
		assert.equal([proof.since, proof.cause], [undefined, undefined]);
		const bytes = await readFile(join(scene.folder, proof.picture ?? ""));
		assert.is(bytes.toString("latin1", 8, 12), "WEBP");
		assert.ok(bytes.length > 500 && bytes.length <= 12_000, `${bytes.length} bytes`);
	}
	assert.equal(await readProofs(scene.folder), proofs, "kept");
});

test("a proof keeps by code why nothing can be seen, and since when", async (scene) => {
	const answers = (body: string, type: string) => () =>
		new Response(body, { headers: { ...open, "Content-Type": type } });
	const exception =
		"<ServiceExceptionReport><ServiceException>InvalidSRS: 3978</ServiceException></ServiceExceptionReport>";
	const causesAt = async (day: string, network: typeof fetch) => {
		const proofs = await prove(scene, ["nhn", "radar-rain", "drought"], { fetch: network, day });
		assert.is(proofs.get("nhn")?.since, "2026-03-11", "since the first time");
		return Object.fromEntries([...proofs].map(([key, { cause }]) => [key, cause]));
	};
	const [nhn = "", radar = "", drought = ""] = ["nhn", "radar-rain", "drought"].map((key) =>
		hostOf(scene, key),
	);
	const first = drawingNetwork({
		[drought]: () => Response.json({ features: [] }),
		[nhn]: () => image(8, 8),
		[radar]: answers(exception, "text/xml"),
	});
	assert.equal(await causesAt("2026-03-11", first), {
		drought: causeOf("cors"),
		nhn: causeOf("nothing"),
		"radar-rain": causeOf("reference", "InvalidSRS: 3978"),
	});
	const second = drawingNetwork({
		[nhn]: () => new Response("<h1>Hello</h1>", { headers: { "Content-Type": "text/html" } }),
	});
	assert.equal(await causesAt("2026-03-18", second), {
		drought: undefined,
		nhn: causeOf("no-picture"),
		"radar-rain": undefined,
	});
});

/** A picture of a kilobyte that has ten million parts. */
function endlessPicture() {
	const group = (level: number) => `<g id="g${level}">${`<use href="#g${level - 1}"/>`.repeat(10)}</g>`;
	const groups = [1, 2, 3, 4, 5, 6, 7].map(group).join("");
	const start = '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">';
	const text = `${start}<defs><rect id="g0" width="1" height="1"/>${groups}</defs><use href="#g7"/></svg>`;
	return new Response(text, { headers: { ...open, "Content-Type": "image/svg+xml" } });
}

test("a picture that takes all memory ends its own browser only, and is recorded", async (scene) => {
	const network = drawingNetwork({ [hostOf(scene, "nhn")]: endlessPicture });
	const limited = () => openLimitedBrowser();
	const proofs = await prove(scene, ["nhn", "drought"], { fetch: network, startBrowser: limited });
	assert.is(proofs.get("nhn")?.cause?.code, "browser-ended");
	assert.is(proofs.get("drought")?.cause, undefined);
});

runUnless(browserPath ? null : "there is no Chromium", test);
