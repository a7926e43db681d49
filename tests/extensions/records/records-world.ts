import type { OtherRoute } from "../../../api/context.ts";
import { inLanguageOf } from "../../../api/reply.ts";
import { recordsRoutes } from "../../../extensions/records/routes.ts";
import type { Entry } from "../../../site/data/entries.ts";
import { folderPages } from "../../../site/http/folder-pages.ts";
import { temporaryFolder, writeFiles } from "../../helpers/world.ts";
import { buildCatalogue } from "../../site/data/entries.ts";
import { pageSettings } from "../../site/data/pages.ts";

const layer = (smallkey: string, type: string, en: string, fr: string, more: Partial<Entry> = {}): Entry => ({
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
	...Array.from({ length: 200 }, (_, at) => layer(`many${at}`, "wms", `Census ${at}`, `Recensement ${at}`)),
];

/** Answers requests below `/base` as a service does, from a catalogue of `layers` in a folder. */
export async function openRecords(publicUrl = "") {
	const folder = await temporaryFolder();
	const own = { ...pageSettings, publicUrl };
	const settings = { pages: own, isServed: true, commit: null, owners: () => [] };
	const files = buildCatalogue(layers, null, settings).set("pages.json", JSON.stringify(own));
	writeFiles(folder.path, Object.fromEntries(files));
	const [{ matches, answer: answerAt }] = recordsRoutes(folderPages(folder.path)) as [OtherRoute];
	/** @param origin what the request says of its scheme and host; null if that is not known */
	const ask = async (target: string, origin: string | null = null, headers: Record<string, string> = {}) => {
		const path = target.slice("/base".length);
		if (!matches(path)) return { status: 404, headers: {}, body: "" };
		const answer = await answerAt({
			path,
			basePath: "/base",
			acceptEncoding: "",
			client: [],
			ifNoneMatch: headers["if-none-match"] ?? null,
			address: origin && origin + target,
		});
		const reply = inLanguageOf(answer, headers["accept-language"] ?? null);
		return { ...reply, body: Buffer.from(reply.body as Uint8Array).toString("utf8") };
	};
	return { ask, [Symbol.asyncDispose]: folder.remove };
}
