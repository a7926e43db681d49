// npm start: the service on this machine (README, "Two commands").
import { mkdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createNodeServer } from "../api/adapters/node.ts";
import type { Context } from "../api/app.ts";
import { runGit } from "../api/stores/git/run.ts";
import { GitStore } from "../api/stores/git.ts";
import { collectCommit } from "./lib/collect.ts";
import { lockFolder } from "./lib/lock.ts";
import { Publication } from "./lib/publication.ts";
import { type Configuration, readConfiguration, readSenders, type SendersFile } from "./lib/settings.ts";
import { repositoryPath, seed } from "./lib/store.ts";

/** How many earlier texts of a wrong file are looked at for one that can be served. */
const mostEarlier = 50;

/** One JSON line on standard output. */
function logLine(fields: object): void {
	process.stdout.write(`${JSON.stringify({ time: new Date().toISOString(), ...fields })}\n`);
}

function report(error: unknown): void {
	logLine({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}

/** Texts that a file of a repository had in earlier commits, newest first. */
async function earlierTexts(repository: string, path: string): Promise<Uint8Array[]> {
	const args = ["log", "-n", String(mostEarlier), "--format=%H", "main", "--", path];
	const commits = (await runGit(repository, args)).toString("latin1").split("\n").filter(Boolean);
	const texts = commits.map((commit) => runGit(repository, ["show", `${commit}:${path}`]).catch(() => null));
	return (await Promise.all(texts)).filter((text) => text !== null);
}

/** Counts the reads that have no line of their own, and logs their number every hour and at the end. */
class ReadCount {
	#reads = 0;
	readonly #timer = setInterval(() => this.#log(), 3_600_000).unref();

	add(): void {
		this.#reads += 1;
	}

	end(): void {
		clearInterval(this.#timer);
		this.#log();
	}

	#log(): void {
		logLine({ reads: this.#reads });
		this.#reads = 0;
	}
}

/** What runs beside the HTTP server, and has to end with it. */
interface Running {
	context: Context;
	publication: Publication;
	close: () => Promise<void>;
}

async function openLocal(configuration: Configuration, senders: SendersFile): Promise<Running> {
	const repository = repositoryPath(configuration.dataDir);
	const publication = new Publication({
		out: join(configuration.dataDir, "dist"),
		settings: configuration,
		warn: (warning) => logLine({ warning }),
		readLayer: (smallkey) => store.read(smallkey),
		earlier: (path) => earlierTexts(repository, path),
	});
	const now = () => new Date();
	const publish = publication.change.bind(publication);
	const store = await GitStore.open({ repository, now, publish, report }, seed);
	await publication.load(await collectCommit(repository, store.tip));
	store.start();
	const settings = { ...configuration, senders: senders.senders };
	return { context: { store, settings, now, report }, publication, close: () => store.close() };
}

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
	const running = await openLocal(configuration, senders);
	const reads = new ReadCount();
	const server = createNodeServer({
		context: running.context,
		fragments: running.publication.fragments,
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
	const layers = [...running.publication.smallkeys()].length;
	printWelcome(`http://${configuration.host}:${port}`, senders, configuration, layers);

	let ending = false;
	const end = async () => {
		if (ending) return;
		ending = true;
		await new Promise((resolve) => server.close(resolve));
		await running.close();
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
