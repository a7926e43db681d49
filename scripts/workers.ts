// npx fragments workers: serves as a Cloudflare Worker in its local runtime (docs/hosting.md)
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Option } from "@commander-js/extra-typings";
import { withTemporaryFolder } from "../files/temporary-folder.ts";
import { buildWorker, bundlePath } from "../hosting/bundle.ts";
import { buildFolder } from "../hosting/output.ts";
import {
	ended,
	fillLocalBucket,
	fillRunFolder,
	type Hosting,
	installEngine,
	type RunFolder,
	spawnWrangler,
	workerVariables,
} from "../hosting/wrangler.ts";
import { readSenders } from "../service/senders-file.ts";
import { type Configuration, type Environment, readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";

/** Time limit of the engine's start, in milliseconds. */
const startTimeoutMs = 60_000;

/** The worker's variables. Without SENDERS it gets the senders of this machine's service. */
async function variablesFor(
	env: Environment,
	{ dataDir }: Configuration,
	io: Io,
): Promise<[string, string][]> {
	const { place, created } = await readSenders(env, dataDir);
	printLine(io, `Senders: ${place}${created ? `, created now with the sender ${created}` : ""}`);
	const senders = env.SENDERS || (await readFile(place, "utf8"));
	// An apostrophe would end the quoted value (dotenv), so it is escaped in the JSON.
	return workerVariables({ ...env, SENDERS: senders.replaceAll("'", "\\u0027") });
}

/** @throws {Error} if another process listens on the port: the engine would report that only after a minute */
async function checkPort({ host, port }: Configuration): Promise<void> {
	const probe = createServer().listen(port, host);
	await once(probe, "listening").catch((error: Error) => {
		throw new Error(`PORT: cannot listen on ${host}:${port}: ${error.message}`);
	});
	await once(probe.close(), "close");
}

function startEngine(folder: RunFolder, hosting: Hosting, dist: string, configuration: Configuration) {
	const { host, port, dataDir } = configuration;
	const args = ["dev", bundlePath, "--no-bundle", "--local", "--config", folder.configuration];
	args.push(`--ip=${host}`, `--port=${port}`, "--inspector-port=0", "--show-interactive-dev-session=false");
	args.push("--persist-to", join(dataDir, "workers"));
	if (hosting === "assets") args.push("--assets", dist);
	return spawnWrangler(args, folder.environment, "pipe");
}

/**
 * Prints the worker's log (JSON lines) and errors, and waits until the engine listens.
 * @throws {Error} with the engine's whole output, if it does not start
 */
function waitForAddress(engine: ChildProcess, io: Io): Promise<string> {
	const output: string[] = [];
	return new Promise((resolve, reject) => {
		const fail = (why: string) =>
			reject(new Error([...output, `the engine did not start: ${why}`].join("\n")));
		const timer = setTimeout(() => fail(`not within ${startTimeoutMs / 1000} s`), startTimeoutMs);
		let isListening = false;
		createInterface({ input: engine.stdout as NodeJS.ReadableStream }).on("line", (line) => {
			const match = /Ready on (http:\S+)/.exec(line);
			if (line.startsWith("{")) printLine(io, line);
			else if (!isListening) output.push(line);
			if (!match) return;
			isListening = true;
			clearTimeout(timer);
			resolve(match[1] as string);
		});
		createInterface({ input: engine.stderr as NodeJS.ReadableStream }).on("line", (line) => {
			if (isListening) printError(io, line);
			else output.push(line);
		});
		engine.once("close", (code) => fail(`it ended with ${code}`));
	});
}

export const run = createRun(async (argv, environment, io) => {
	const options = createCommandLine("workers", io)
		.addOption(
			new Option("--layers <dir>", "the folder of layers that is built into dist")
				.default("layers")
				.conflicts("dist"),
		)
		.option("--dist <dir>", "a build to serve as it is, instead")
		.option("--objects", "fragments as objects of a local R2 bucket, instead of static assets")
		.parse(argv, { from: "user" })
		.opts();
	const stop = io.interrupted();
	const configuration = readConfiguration(environment);
	await checkPort(configuration);
	const hosting = options.objects ? "objects" : "assets";
	const dist = resolve(options.dist ?? "dist");
	await installEngine();
	if (options.dist === undefined) await buildFolder(options.layers, dist, environment);
	await buildWorker();
	const variables = await variablesFor(environment, configuration, io);
	return withTemporaryFolder("workers-", async (path) => {
		try {
			const folder = await fillRunFolder(path, hosting, variables);
			if (options.objects) await fillLocalBucket(folder, join(configuration.dataDir, "workers"), dist);
			if (stop.aborted) return exitCodes.done;
			const engine = startEngine(folder, hosting, dist, configuration);
			stop.addEventListener("abort", () => engine.kill("SIGTERM"));
			const closed = ended(engine);
			printLine(io, `Serving at ${await waitForAddress(engine, io)}${configuration.basePath}`);
			const code = await closed;
			if (!stop.aborted) throw new Error(`the engine has ended with ${code}`);
		} catch (error) {
			if (!stop.aborted) throw error;
		}
		return exitCodes.done;
	});
});
