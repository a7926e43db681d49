// npm run workers: the service as a Cloudflare Worker, in its local runtime (docs/hosting.md).
import type { ChildProcess } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { build } from "./build/build.ts";
import { buildWorker, bundlePath, sizeLine } from "./hosting/bundle.ts";
import { writeHostingFiles } from "./hosting/files.ts";
import {
	ended,
	fillLocalBucket,
	type Hosting,
	installEngine,
	makeRunFolder,
	type RunFolder,
	spawnWrangler,
	workerVariables,
} from "./hosting/wrangler.ts";
import { type Configuration, type Environment, readConfiguration, readSenders } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = `npm run workers [-- [--layers DIR | --dist DIR] [--objects]]

  --layers DIR   the folder of layers that is built into dist (layers)
  --dist DIR     a build to serve as it is, instead
  --objects      fragments as objects of a local R2 bucket, instead of static assets`;

const options = {
	layers: { type: "string" },
	dist: { type: "string" },
	objects: { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const;

/** How long the engine may take to start, in milliseconds. */
const patience = 60_000;

async function buildFragments(layers: string, dist: string, configuration: Configuration): Promise<void> {
	const { problems, written } = await build({ folder: layers }, dist, configuration);
	if (!written) throw new Error([...problems, `${problems.length} problems; nothing was written`].join("\n"));
	await writeHostingFiles(dist, false);
}

/** The variables for the worker; the senders are those of this machine's service where SENDERS is not set. */
async function variablesFor(env: Environment, { dataDir }: Configuration): Promise<[string, string][]> {
	const { place, made } = await readSenders(env, dataDir);
	console.log(`Senders: ${place}${made ? `, made now with the sender ${made}` : ""}`);
	const senders = env.SENDERS || (await readFile(place, "utf8"));
	// An apostrophe would end the value's quotes (dotenv); in JSON it can be written otherwise.
	return workerVariables({ ...env, SENDERS: senders.replaceAll("'", "\\u0027") });
}

/** @throws {Error} where something else listens on the port: the engine would take a minute to say so */
async function checkPort({ host, port }: Configuration): Promise<void> {
	const probe = createServer();
	const listening = new Promise<void>((resolve, reject) => {
		probe.once("error", reject);
		probe.listen(port, host, resolve);
	});
	await listening.catch((error: Error) => {
		throw new Error(`PORT: cannot listen on ${host}:${port}: ${error.message}`);
	});
	await new Promise((resolve) => probe.close(resolve));
}

function startEngine(folder: RunFolder, hosting: Hosting, dist: string, configuration: Configuration) {
	const { host, port, dataDir } = configuration;
	const args = ["dev", bundlePath, "--no-bundle", "--local", "--config", folder.configuration];
	args.push(
		"--ip",
		host,
		"--port",
		String(port),
		"--inspector-port",
		"0",
		"--show-interactive-dev-session=false",
	);
	args.push("--persist-to", join(dataDir, "workers"));
	if (hosting === "assets") args.push("--assets", dist);
	return spawnWrangler(args, folder.environment, "pipe");
}

/**
 * Passes on what the worker logs (JSON lines) and what goes wrong, and waits until the engine listens.
 * @throws {Error} with all it said, where it does not start
 */
function waitForAddress(engine: ChildProcess): Promise<string> {
	const said: string[] = [];
	return new Promise((resolve, reject) => {
		const fail = (why: string) => reject(new Error([...said, `the engine did not start: ${why}`].join("\n")));
		const timer = setTimeout(() => fail(`not within ${patience / 1000} s`), patience);
		let listening = false;
		createInterface({ input: engine.stdout as NodeJS.ReadableStream }).on("line", (line) => {
			const match = /Ready on (http:\S+)/.exec(line);
			if (line.startsWith("{")) console.log(line);
			else if (!listening) said.push(line);
			if (!match) return;
			listening = true;
			clearTimeout(timer);
			resolve(match[1] as string);
		});
		createInterface({ input: engine.stderr as NodeJS.ReadableStream }).on("line", (line) => {
			if (listening) console.error(line);
			else said.push(line);
		});
		engine.once("close", (code) => fail(`it ended with ${code}`));
	});
}

async function serve(env: Environment, words: ReturnType<typeof parseWords>): Promise<number> {
	const stop = new AbortController();
	for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop.abort());
	const configuration = readConfiguration(env);
	await checkPort(configuration);
	const hosting = words.objects ? "objects" : "assets";
	const dist = resolve(words.dist ?? "dist");
	await installEngine();
	if (words.dist === undefined) await buildFragments(words.layers ?? "layers", dist, configuration);
	for (const size of await buildWorker()) console.log(sizeLine(size));
	const folder = await makeRunFolder(hosting, await variablesFor(env, configuration));
	try {
		if (hosting === "objects") await fillLocalBucket(folder, join(configuration.dataDir, "workers"), dist);
		if (stop.signal.aborted) return 0;
		const engine = startEngine(folder, hosting, dist, configuration);
		stop.signal.addEventListener("abort", () => engine.kill("SIGTERM"));
		const closed = ended(engine);
		console.log(`Serving at ${await waitForAddress(engine)}${configuration.basePath}`);
		const code = await closed;
		if (stop.signal.aborted) return 0;
		throw new Error(`the engine has ended with ${code}`);
	} catch (error) {
		if (stop.signal.aborted) return 0;
		throw error;
	} finally {
		await folder.remove();
	}
}

function parseWords() {
	try {
		return parseArgs({ options }).values;
	} catch (error) {
		throw new Error(`${(error as Error).message}\nusage: ${usage}`);
	}
}

await runCommand(async () => {
	const words = parseWords();
	if (!words.help) return serve(process.env, words);
	console.log(usage);
	return 0;
});
