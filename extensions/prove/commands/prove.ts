import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { listen } from "../../../api/node/serve.ts";
import { readConfiguration } from "../../../api/service/settings.ts";
import type { CheckedLayer } from "../../../registry/judge.ts";
import { canonicalText } from "../../../registry/registration.ts";
import { descriptionPath, folderOf, layerPath } from "../../../registry/smallkey.ts";
import { counted, plain } from "../../../registry/untrusted.ts";
import { addSourceOptions, sourceOf } from "../../../scripts/build.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { buildFolder } from "../../../site/build/output.ts";
import { causeText } from "../../../site/data/health.ts";
import { folderPages } from "../../../site/http/folder-pages.ts";
import { readSite } from "../../../site/process/site-settings.ts";
import { withTemporaryFolder } from "../../../store/files/files.ts";
import { descriptionText } from "../../harvest/description.ts";
import { readLayers, selectLayers } from "../../harvest/harvester/layers.ts";
import { readHarvest } from "../../harvest/index.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import { needBrowser, openBrowser, readProve } from "../browser.ts";
import { drawLayer } from "../draw.ts";
import { runProofs } from "../proofs.ts";

/** Valid layers: of a folder with a wrong file, a build writes nothing. */
async function writeLayers(layers: readonly CheckedLayer[], folder: string) {
	await mkdir(join(folder, "layers"), { recursive: true });
	for (const { smallkey, registration, description } of layers) {
		await mkdir(join(folder, "layers", folderOf(smallkey)), { recursive: true });
		await writeFile(join(folder, layerPath(smallkey)), canonicalText(registration));
		if (description) await writeFile(join(folder, descriptionPath(smallkey)), descriptionText(description));
	}
}

/** On this machine, on a free port. @returns the address with a slash at its end */
export async function serveFolder(dist: string): Promise<{ address: string; close: () => void }> {
	const files = folderPages(dist);
	const server = createServer(async (request, response) => {
		const path = decodeURIComponent(new URL(request.url ?? "", "http://host").pathname.slice(1));
		const file = path.replace(/(^|\/)$/, "$1index.html");
		const acceptEncoding = String(request.headers["accept-encoding"] ?? "");
		const options = { ifNoneMatch: null, acceptEncoding };
		const { status, headers, body } = await files.answer({ file, root: "/" }, options);
		response.writeHead(status, headers).end(body);
	});
	const address = await listen(server, { host: "127.0.0.1", port: 0 }, "");
	return { address: `${address}/`, close: () => server.close() };
}

function parsePart(text: string) {
	const [, number = "", of = ""] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
	const part = { number: Number(number), of: Number(of) };
	if (part.of > 0 && part.number <= part.of) return part;
	throw new InvalidArgumentError("It must be a part of all, such as 3/7.");
}

/** A layer is always in the same part, whatever other layers there are. */
function isIn({ number, of }: ReturnType<typeof parsePart>, smallkey: string) {
	return createHash("sha256").update(smallkey).digest().readUInt32BE() % of === number - 1;
}

export const run = createRun(async ({ read, environment, io }) => {
	const [{ part, out, ...options }, smallkeys] = await read((line) =>
		addSourceOptions(line.argument("[smallkey...]", "which layers; all where none is named"))
			.option("--part <part>", "one of several parts of all layers, such as 3/7", parsePart)
			.option("--out <dir>", "the folder of pictures (PICTURES, or DATA_DIR/pictures)"),
	);
	const configuration = readConfiguration(environment, readProve, readSite, readHarvest);
	const { browser } = configuration;
	needBrowser(browser);
	const folder = resolve(out ?? configuration.pictures);
	const { source, name } = sourceOf(options);
	await mkdir(folder, { recursive: true });
	await withTemporaryFolder("fp-prove-", async (temporary) => {
		const all = await readLayers(source, io);
		const layers = selectLayers(all, smallkeys).filter(({ smallkey }) => !part || isIn(part, smallkey));
		io.warn(plain(`Drawing ${counted(layers.length, "layer")} of ${name}`));
		const dist = join(temporary, "dist");
		// The policy of a site with https requests also services that are registered with http over https.
		const plainSite = { ...environment, SITE: "on", BASE_MAP: undefined, PUBLIC_URL: undefined };
		await writeLayers(all, temporary);
		await buildFolder(join(temporary, "layers"), dist, plainSite);
		const { address, close } = await serveFolder(dist);
		const proofs = await runProofs({
			site: address,
			fetch: createFetch(configuration.network),
			layers,
			registered: new Set(all.map(({ smallkey }) => smallkey)),
			folder,
			isAgain: smallkeys.length > 0,
			day: io.now().toISOString().slice(0, 10),
			signal: io.interrupted(),
			startBrowser: () => openBrowser(browser),
			draw: drawLayer,
		}).finally(close);
		// The longest failing first.
		const notDrawn = [...proofs]
			.map(([smallkey, proof]) => ({ smallkey, ...proof }))
			.filter(({ since }) => since !== undefined)
			.sort((a, b) => (`${a.since}${a.smallkey}` < `${b.since}${b.smallkey}` ? -1 : 1));
		for (const { smallkey, since, cause } of notDrawn)
			io.print(plain(`${smallkey}: not drawn since ${since}${cause ? `: ${causeText("en", cause)}` : ""}`));
		const unknown = all.length - proofs.size;
		io.print(
			`${proofs.size - notDrawn.length} of ${counted(all.length, "layer")} draw, ${unknown} not checked yet: ${folder}`,
		);
	});
});
