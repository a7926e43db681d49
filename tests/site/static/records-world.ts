import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { originOf, parseTrustedProxies, type TrustedProxies } from "../../../api/node/address.ts";
import { folderPages } from "../../../api/node/pages.ts";
import { parsePage } from "../../../api/pages.ts";
import { inLanguageOf } from "../../../api/reply.ts";
import type { Entry } from "../../../registry/entries.ts";
import { buildCatalogue } from "../../catalogue/entries.ts";
import { pageSettings } from "../../catalogue/pages.ts";
import { answering, temporaryFolder } from "../../helpers/world.ts";

const layer = (smallkey: string, type: string, en: string, fr: string, more: Partial<Entry>): Entry => ({
	smallkey,
	type,
	title: { en, fr },
	address: { en: "https://maps.example.ca/wms", fr: "https://cartes.example.ca/wms" },
	...more,
});

export const layers: Entry[] = [
	layer("rivers", "wms", "Rivers of Ontario", "Rivières de l’Ontario", {
		layers: { en: ["hydro:rivers"], fr: ["hydro:rivieres"] },
		bounds: [-95, 41, -74, 57],
		description: { en: "Every river", fr: "Chaque cours d’eau" },
		changed: { commit: "0123456789ab", date: "2026-03-04T12:00:00Z" },
	}),
	layer("schools", "feature", "Schools", "Écoles", {
		address: { en: "https://gis.example.ca/arcgis/rest/services/edu/MapServer/3" },
		bounds: [-141, 41, -52, 84],
		keywords: { en: ["education"] },
		sender: { en: "Office of Maps", fr: "Bureau des cartes" },
	}),
	layer("tiles", "ogcWmts", "Base map", "Fond de carte", { layers: { en: ["base"] } }),
	layer("wells", "esriFeature", "Wells", "Puits", {
		address: { en: "https://gis.example.ca/arcgis/rest/services/wells/FeatureServer/0" },
	}),
	...Array.from({ length: 200 }, (_, index) =>
		layer(`many${index}`, "wms", `Census ${index}`, `Recensement ${index}`, {}),
	),
];

/** A catalogue that is served over HTTP. */
export interface RecordsContext extends AsyncDisposable {
	/** The address of the site, without a slash at its end. */
	address: string;
}

/** Serves a catalogue of `layers` as a service does: files, and what is made of them. It trusts a proxy on this machine. */
export async function serveRecords(publicUrl = ""): Promise<RecordsContext> {
	const folder = await temporaryFolder();
	const own = { ...pageSettings, publicUrl };
	const settings = { pages: own, isServed: true, commit: null, owners: () => [] };
	const files = buildCatalogue(layers, null, settings).set("pages.json", JSON.stringify(own));
	for (const [path, text] of files) {
		await mkdir(dirname(join(folder.path, path)), { recursive: true });
		await writeFile(join(folder.path, path), text ?? "");
	}
	const pages = folderPages(folder.path, false);
	const trusted = parseTrustedProxies("127.0.0.1") as TrustedProxies;
	const served = await answering(async (request, response) => {
		const route = parsePage(request.url ?? "", "/base");
		if (!route || typeof route === "string") return void response.writeHead(404).end();
		const origin = originOf(request, trusted);
		const answer = await pages(route, {
			ifNoneMatch: request.headers["if-none-match"] ?? null,
			acceptEncoding: "",
			address: origin && origin + request.url,
		});
		const reply = inLanguageOf(answer, request.headers["accept-language"] ?? null);
		response.writeHead(reply.status, reply.headers).end(reply.body as Uint8Array);
	});
	const end = async () => {
		await served[Symbol.asyncDispose]();
		await folder.remove();
	};
	return { address: `${served.origin}/base`, [Symbol.asyncDispose]: end };
}
