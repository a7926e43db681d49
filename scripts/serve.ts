// npm start: the service on this machine (README, "Two commands").
import { mkdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createNodeServer } from "../api/adapters/node.ts";
import { openService } from "./service/composition.ts";
import { lockFolder } from "./service/lock.ts";
import { logLine, ReadCount } from "./service/log.ts";
import { type Configuration, readConfiguration, readSenders, type SendersFile } from "./service/settings.ts";

/** A text as one word of a shell command. */
function shellWord(text: string): string {
	return /^[A-Za-z0-9/._-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function printWelcome(
	address: string,
	senders: SendersFile,
	configuration: Configuration,
	layers: number,
): void {
	const id = [...senders.senders.keys()][0] ?? "publisher";
	const where = senders.place === "SENDERS" ? "" : `DATA_DIR=${shellWord(configuration.dataDir)} `;
	const url = `${address}${configuration.basePath}`;
	const made = senders.made ? `, made now with the sender ${senders.made}` : "";
	console.log(`Serving ${layers} layers at ${url}
Senders: ${senders.place}${made}

Register a first layer, and read it back:

  ${where}npm run put -- my-layer layers/to/toporama.json --url ${url} --sender ${id} && curl ${url}/v0.9/doc/en/my-layer
`);
}

async function main(): Promise<void> {
	const configuration = readConfiguration(process.env);
	await mkdir(configuration.dataDir, { recursive: true });
	const lock = await lockFolder(configuration.dataDir);
	const senders = await readSenders(process.env, configuration.dataDir);
	const service = await openService(configuration, senders.senders);
	const reads = new ReadCount();
	const { server, end: endServer } = createNodeServer({
		context: service.context,
		fragments: service.fragments,
		version: service.version,
		log: logLine,
		allReads: configuration.logReads,
		count: () => reads.add(),
		ready: () => true,
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(configuration.port, configuration.host, resolve);
	});
	const { port } = server.address() as AddressInfo;
	const host = configuration.host.includes(":") ? `[${configuration.host}]` : configuration.host;
	printWelcome(`http://${host}:${port}`, senders, configuration, service.layers());

	let ending = false;
	const end = async () => {
		if (ending) return;
		ending = true;
		await endServer();
		await service.close();
		reads.end();
		await lock.release();
		process.exit(0);
	};
	for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => void end());
}

main().catch((error: Error) => {
	console.error(error.message);
	process.exit(1);
});
