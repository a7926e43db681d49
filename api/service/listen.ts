import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { counted } from "../../registry/untrusted-text.ts";
import type { Service } from "./composition.ts";
import { countExamples } from "./data-dir.ts";
import type { readSenders } from "./senders-file.ts";
import type { Configuration } from "./settings.ts";

/**
 * @param settings names of the settings of host and port, for the error
 * @param advice a sentence at the end of the error
 * @returns the address, such as `http://127.0.0.1:8080`
 * @throws {Error} that names the settings, if the server cannot listen
 */
export async function listen(
	server: Server,
	{ host, port }: { host: string; port: number },
	settings: string,
	advice = "",
): Promise<string> {
	server.listen(port, host);
	await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
		const reason = error.code === "EADDRINUSE" ? "another process listens there" : error.message;
		throw new Error(`${settings}: cannot listen on ${host}:${port}: ${reason}${advice}`);
	});
	const { port: listening } = server.address() as AddressInfo;
	return `http://${host.includes(":") ? `[${host}]` : host}:${listening}`;
}

const exampleLayer = fileURLToPath(new URL("../../docs/example-layer.json", import.meta.url));

interface Started {
	url: string;
	service: Pick<Service, "layers" | "place" | "has" | "welcome">;
	senders: Awaited<ReturnType<typeof readSenders>>;
	configuration: Configuration;
}

/**
 * In a trial, how to register the checkout's layers that are not served; otherwise why there are no layers
 * yet.
 */
function lackingLines(isTrial: boolean, layers: number, lacking: number, where: string): string[] {
	if (!isTrial) {
		const why =
			"the examples of this checkout are for a trial, without DATA_DIR, GITHUB_REPOSITORY and NODE_ENV";
		return layers === 0 ? [`        none yet: ${why}`] : [];
	}
	if (lacking === 0) return [];
	const what = lacking === 1 ? "1 layer of this checkout is" : `${lacking} layers of this checkout are`;
	return [
		`        ${what} not there. To bring in layers/, end this and run: ${where}npx fragment-publisher register layers`,
	];
}

function shellWord(text: string): string {
	return /^[A-Za-z0-9/._-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** After the start: addresses, senders and a first command, without secrets. */
export function welcome({ url, service, senders, configuration }: Started): string {
	const { place, created } = senders;
	const { isTrial } = configuration;
	const layers = service.layers();
	const examples = isTrial && service.has ? countExamples(service.has) : { served: 0, lacking: 0 };
	const id = [...senders.senders.keys()][0] ?? "publisher";
	const base = `${url}${configuration.basePath}`;
	const inFile = place !== "SENDERS";
	const where = inFile ? `DATA_DIR=${shellWord(configuration.dataDir)} ` : "";
	const example = shellWord(relative(process.cwd(), exampleLayer));
	const asks = inFile ? "" : ` (it asks for the secret where SENDERS is not set)`;
	const lines = [
		`Serving ${counted(layers, "layer")} at ${base}`,
		`Layers: ${service.place}`,
		...lackingLines(isTrial, layers, examples.lacking, where),
		...service.welcome(base),
	];
	if (senders.senders.size === 0) {
		const way = inFile
			? `${where}npx fragment-publisher sender add`
			: "leave SENDERS unset, or name a sender in it";
		return [...lines, `Senders: none in ${place}, so no one can publish: ${way}`, ""].join("\n");
	}
	lines.push(`Senders: ${place}${created ? `, created now with the sender ${created}` : ""}`, "");
	if (layers > examples.served) return lines.join("\n");
	return [
		...lines,
		`Register a first layer, and read it back${asks}:`,
		"",
		`  ${where}npx fragment-publisher put my-layer ${example} --url ${base} --sender ${id} && curl ${base}/v0.9/doc/en/my-layer`,
		"",
	].join("\n");
}
