import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Registration1 } from "../registry/registration.ts";
import { langs } from "../registry/smallkey.ts";
import { fullBuild, removeOutput } from "./builds.ts";
import { generateLayers } from "./layers.ts";
import { timed } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import type { World } from "./measure/world.ts";

const fields = ["OBJECTID", "NAME", "TYPE", "STATUS", "PROVINCE", "LENGTH", "YEAR", "OWNER"];
const image = `data:image/png;base64,${"iVBORw0KGgoA".repeat(40)}`;

/** A node as release 1.10 stored it: about 4 kB of a feature layer, as in real dumps. */
function nodeOf(
	smallkey: string,
	lang: "en" | "fr",
	{ payload_type, ...registration }: Registration1,
): object {
	const { service_url: url, service_name: displayName, layer } = registration[lang];
	const id = `rcs.${smallkey}.${lang}`;
	if (payload_type === "wms") return { id, url, displayName, layerName: layer, format: "image/png" };
	const fixed = { fieldName: "", orderable: false, type: "string", alignment: 0 };
	const columns = fields.map((name) => ({
		id: name,
		fieldName: name,
		width: "400px",
		orderable: true,
		type: "string",
		alignment: 1,
		title: name,
		columnTemplate: "unformatted_grid_value",
	}));
	const valueMaps = ["a", "b", "c"].map((value) => ({ value, imageUrl: image, label: value }));
	return {
		id,
		url,
		displayName,
		nameField: "NAME",
		minScale: 0,
		maxScale: 0,
		datagrid: {
			gridColumns: [
				{ id: "iconCol", width: "50px", title: "Icon", columnTemplate: "graphic_icon", ...fixed },
				{ id: "detailsCol", width: "60px", title: "Details", columnTemplate: "details_button", ...fixed },
				...columns,
			],
		},
		layerExtent: { xmin: -140, ymin: 42, xmax: -52, ymax: 83, spatialReference: { wkid: 4269 } },
		symbology: { type: "uniqueValue", field1: "TYPE", field2: null, field3: null, valueMaps },
		aliasMap: Object.fromEntries(fields.map((name) => [name, name.toLowerCase()])),
		geometryType: "esriGeometryPolyline",
	};
}

function* dumpOf(count: number): Generator<string> {
	let separator = '{"docs":[';
	for (const { smallkey, registration } of generateLayers(count)) {
		const nodes = Object.fromEntries(langs.map((lang) => [lang, nodeOf(smallkey, lang, registration)]));
		const data = { key: smallkey, request: registration, ...nodes };
		yield separator + JSON.stringify({ _id: smallkey, type: registration.payload_type, data });
		separator = ",\n";
	}
	yield "]}\n";
}

async function prepareImport(world: World): Promise<Pair> {
	const dump = world.path("dump.json");
	await pipeline(Readable.from(dumpOf(world.layers)), createWriteStream(dump));
	const layers = join(await world.checkout(world.layers), "layers");
	const [dataDir, out] = [world.path("imported"), world.path("import-build")];
	return {
		ours: async () => {
			await rm(dataDir, { recursive: true, force: true });
			await timed("sync", []);
			return timed("env", [`DATA_DIR=${dataDir}`, "npm", "run", "-s", "import", "--", dump]);
		},
		reference: () => fullBuild(layers, out),
		close: async () => {
			await rm(dataDir, { recursive: true, force: true });
			await removeOutput(out);
		},
	};
}

/** The row about moving from the older service. */
export const importRows: Row[] = [
	{
		name: "import",
		ours: "import of a dump of release 1.10",
		reference: "full build of as many layers at v0.9",
		unit: "s",
		reach: { of: "ratio", most: 3 },
		prepare: prepareImport,
	},
];
