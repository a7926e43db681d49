import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfiguredSenders } from "./senders-file.ts";
import type { Configuration } from "./settings.ts";

const exampleLayer = fileURLToPath(new URL("../docs/example-layer.json", import.meta.url));

/** The contents of the welcome. */
export interface Started {
	/** Where the service listens, without its base path. */
	url: string;
	/** Number of served layers. */
	layers: number;
	/** Where they are. */
	layersPlace: string;
	/** Number of this checkout's layers that are not served. */
	lacking: number;
	senders: ConfiguredSenders;
	configuration: Configuration;
	/** The metrics' address, or null. */
	metrics: string | null;
}

/** How to register the checkout's layers that the service lacks. */
function lackingText(lacking: number, where: string): string {
	const what = lacking === 1 ? "1 layer of this checkout is" : `${lacking} layers of this checkout are`;
	return `        ${what} not there. To bring in layers/, end this and run: ${where}npx fragments register layers\n`;
}

/** Quotes a text for a shell. */
function shellWord(text: string): string {
	return /^[A-Za-z0-9/._-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The text that the service prints after its start: addresses, senders and a first command, without secrets. */
export function welcome(started: Started): string {
	const { url, layers, layersPlace, lacking, senders, configuration, metrics } = started;
	const { place, created } = senders;
	const id = [...senders.senders.keys()][0] ?? "publisher";
	const base = `${url}${configuration.basePath}`;
	const inFile = place !== "SENDERS";
	const where = inFile ? `DATA_DIR=${shellWord(configuration.dataDir)} ` : "";
	const example = shellWord(relative(process.cwd(), exampleLayer));
	const asks = inFile ? "" : ` (it asks for the secret where SENDERS is not set)`;
	return `Serving ${layers} layers at ${base}
Layers: ${layersPlace}
${lacking === 0 ? "" : lackingText(lacking, where)}${configuration.site ? `Catalogue: ${base}/\n` : ""}${metrics === null ? "" : `Metrics: ${metrics}\n`}Senders: ${place}${created ? `, created now with the sender ${created}` : ""}

Register a first layer, and read it back${asks}:

  ${where}npx fragments put my-layer ${example} --url ${base} --sender ${id} && curl ${base}/v0.9/doc/en/my-layer
`;
}
