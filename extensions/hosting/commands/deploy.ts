// npx fragment-publisher deploy and workers: put the build and the worker on Cloudflare, or serve them in its local runtime
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Option } from "@commander-js/extra-typings";
import { readGitHub, readServing, Variables } from "../../../api/configuration.ts";
import { readSenders } from "../../../api/service/senders-file.ts";
import { type Configuration, readConfiguration } from "../../../api/service/settings.ts";
import { isCompanion } from "../../../publish/place-file.ts";
import type { Environment, Io } from "../../../registry/environment.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { buildFolder } from "../../../site/build/output.ts";
import { filesBelow, readTextIfThere, withTemporaryFolder } from "../../../store/files/files.ts";
import { buildWorker, bundlePath } from "../bundle.ts";
import {
	configurations,
	deployWorker,
	ended,
	engineFolder,
	type Hosting,
	parseSecretFile,
	quiet,
	readSecretFiles,
	root,
	spawnWrangler,
} from "../deployment.ts";

/** The variables of a worker that are set in the environment. */
export function workerVariables(env: Environment): [string, string][] {
	const variables = new Variables({ GITHUB_REPOSITORY: "owner/name" });
	readServing(variables, { fallback: 1, max: 1 });
	readGitHub(variables);
	return ["SENDERS", ...variables.names].flatMap((name) => (env[name] ? [[name, env[name]]] : []));
}

/** Whether the engine is installed, in the version of its lock file. */
export async function isEngineInstalled(): Promise<boolean> {
	const versions = await Promise.all([
		readFile(join(engineFolder, "package-lock.json"), "utf8"),
		readTextIfThere(join(engineFolder, "node_modules/.package-lock.json")),
	]);
	const [wanted, present] = versions.map(
		(text) => JSON.parse(text ?? "{}").packages?.["node_modules/wrangler"]?.version as string | undefined,
	);
	return wanted === present;
}

/** Installs the engine from its lock file if it is missing: about 200 MB. */
async function installEngine(): Promise<void> {
	if (await isEngineInstalled()) return;
	console.log("Installing Cloudflare's tool chain in deploy/workers (once)");
	await done("npm ci in deploy/workers", "npm", ["ci", "--omit=dev"], { cwd: engineFolder });
}

/** Runs a process, and shows its standard error. @throws {Error} if it fails */
async function done(what: string, command: string, args: string[], options: SpawnOptions): Promise<void> {
	const code = await ended(spawn(command, args, { ...options, stdio: ["ignore", "ignore", "inherit"] }));
	if (code !== 0) throw new Error(`${what}: ended with ${code}`);
}

/** Synchronizes the local runtime's bucket with a build. */
async function fillLocalBucket(
	folder: Awaited<ReturnType<typeof fillRunFolder>>,
	persist: string,
	dist: string,
): Promise<void> {
	const list = `${folder.configuration}.objects`;
	await writeFile(list, JSON.stringify(filesBelow(dist).filter((path) => !isCompanion(path))));
	const words = [join(engineFolder, "fill-bucket.mjs"), folder.configuration, persist, dist, list];
	const env = { ...quiet, ...folder.environment };
	await done("filling the local bucket", process.execPath, words, { cwd: root, env });
}

/**
 * Fills the temporary folder of a run for wrangler's files, with the variables in a file that only its owner may read.
 * @returns the path of the configuration, beside which wrangler reads `.dev.vars`, and an environment in which wrangler
 * writes to this folder only, and has none of the service's variables
 */
async function fillRunFolder(path: string, hosting: Hosting, variables: [string, string][]) {
	const configuration = join(path, "wrangler.jsonc");
	await copyFile(configurations[hosting], configuration);
	const text = variables.map(([name, value]) => `${name}=${quoted(name, value)}\n`).join("");
	await writeFile(join(path, ".dev.vars"), text, { mode: 0o600 });
	const own = { HOME: path, XDG_CONFIG_HOME: path, TMPDIR: path, WRANGLER_LOG_PATH: path };
	return { configuration, environment: { PATH: process.env.PATH, ...own } };
}

/** Quotes a value for dotenv, with quotes that the value does not contain: dotenv has no escaping. */
function quoted(name: string, value: string): string {
	const quote = ["'", "`"].find((candidate) => !value.includes(candidate));
	if (quote === undefined) throw new Error(`${name}: must not hold both ' and \``);
	return quote + value + quote;
}

const layersOption = new Option("--layers <dir>", "the folder of layers that is built into dist")
	.default("layers")
	.conflicts("dist");

/** Plan → static assets of one deployment (Cloudflare Workers, "Limits"); wrangler's dry run does not check their number. */
const maxFilesByPlan: ReadonlyMap<string, number> = new Map([
	["free", 20_000],
	["paid", 100_000],
]);

/** Checks the number of files. @throws {Error} if the plan does not allow that many, or there is none */
async function checkFileCount(dist: string, plan: string): Promise<void> {
	const maxFiles = maxFilesByPlan.get(plan);
	if (maxFiles === undefined) throw new Error(`--plan: must be free or paid, not ${plan}`);
	const files = (existsSync(dist) ? filesBelow(dist) : []).filter((path) => !isCompanion(path));
	if (files.length === 0) throw new Error(`${dist}: has no files; npx fragment-publisher build makes them`);
	if (files.length <= maxFiles) return;
	const [count, limit] = [files.length, maxFiles].map((number) => number.toLocaleString("en"));
	throw new Error(`${dist}: has ${count} files, and Cloudflare's ${plan} plan takes ${limit} in one deployment.
Each layer is two files for each target. The ways out: fewer targets (TARGETS);
--plan paid, where the account has it, which takes 100,000 files;
or past that the fragments in a bucket: deploy/fill-bucket.sh dist, then npx fragment-publisher deploy --objects
(docs/hosting.md, "Past the file limit")`);
}

const deploy = createRun("deploy", async ({ read, environment, io, extensions }) => {
	const [options, further] = await read((line) =>
		line
			.argument("[option...]", "after another --: further options of wrangler deploy")
			.addOption(layersOption)
			.option("--dist <dir>", "a build to deploy as it is, instead")
			.addOption(
				new Option("--plan <plan>", "how many files Cloudflare takes ")
					.choices([...maxFilesByPlan.keys()])
					.default(environment.WORKERS_PLAN || "free", "WORKERS_PLAN, or free"),
			)
			.option(
				"--objects",
				"the worker alone: its fragments are those of the bucket OBJECTS_BUCKET that deploy/fill-bucket.sh fills",
			)
			.option(
				"--secret <name=file>",
				"a secret of the worker from a file: SENDERS, GITHUB_TOKEN or GITHUB_APP_PRIVATE_KEY; may be said several times",
				parseSecretFile,
			)
			.option("--prepare", "only build the worker, deploy/workers/dist/worker.js")
			.option("--dry-run", "everything but the deployment"),
	);
	const dist = resolve(options.dist ?? "dist");
	const secrets = await readSecretFiles(options.secret ?? [], io.warn);
	if (options.objects && !environment.OBJECTS_BUCKET)
		throw new Error("OBJECTS_BUCKET: must be set, to the bucket's name");
	if (!options.objects) {
		if (options.dist === undefined) await buildFolder(options.layers, dist, environment, { extensions });
		await checkFileCount(dist, options.plan);
	}
	await buildWorker();
	if (options.prepare) return exitCodes.done;
	await installEngine();
	if (options.dryRun) further.unshift("--dry-run");
	const assets = options.objects ? null : dist;
	const isDone = await deployWorker({ worker: bundlePath, assets, secrets, further }, environment);
	return isDone ? exitCodes.done : exitCodes.unable;
});

const startTimeoutMs = 60_000;

/** @throws {Error} if another process listens on the port: the engine would report that only after a minute */
async function checkPort({ host, port }: Configuration): Promise<void> {
	const probe = createServer().listen(port, host);
	await once(probe, "listening").catch((error: Error) => {
		throw new Error(`PORT: cannot listen on ${host}:${port}: ${error.message}`);
	});
	await once(probe.close(), "close");
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
			if (line.startsWith("{")) io.print(line);
			else if (!isListening) output.push(line);
			if (!match) return;
			isListening = true;
			clearTimeout(timer);
			resolve(match[1] as string);
		});
		createInterface({ input: engine.stderr as NodeJS.ReadableStream }).on("line", (line) =>
			isListening ? io.warn(line) : output.push(line),
		);
		engine.once("close", (code) => fail(`it ended with ${code}`));
	});
}

const workers = createRun("workers", async ({ read, environment, io, extensions }) => {
	const [options] = await read((line) =>
		line
			.addOption(layersOption)
			.option("--dist <dir>", "a build to serve as it is, instead")
			.option("--objects", "fragments as objects of a local R2 bucket, instead of static assets"),
	);
	const stop = io.interrupted();
	const configuration = readConfiguration(environment);
	const { host, port, dataDir, basePath } = configuration;
	await checkPort(configuration);
	const dist = resolve(options.dist ?? "dist");
	const persisted = join(dataDir, "workers");
	await installEngine();
	if (options.dist === undefined) await buildFolder(options.layers, dist, environment, { extensions });
	await buildWorker();
	// Without SENDERS the worker gets the senders of this machine's service.
	const { text, place, created } = await readSenders(environment, dataDir);
	io.print(`Senders: ${place}${created ? `, created now with the sender ${created}` : ""}`);
	// An apostrophe would end the quoted value (dotenv), so it is escaped in the JSON.
	const variables = workerVariables({ ...environment, SENDERS: text.replaceAll("'", "\\u0027") });
	await withTemporaryFolder("workers-", async (path) => {
		try {
			const folder = await fillRunFolder(path, options.objects ? "objects" : "assets", variables);
			if (options.objects) await fillLocalBucket(folder, persisted, dist);
			if (stop.aborted) return;
			const args = ["dev", bundlePath, "--no-bundle", "--local", "--config", folder.configuration];
			args.push(`--ip=${host}`, `--port=${port}`, "--inspector-port=0");
			args.push("--show-interactive-dev-session=false", "--persist-to", persisted);
			if (!options.objects) args.push("--assets", dist);
			const engine = spawnWrangler(args, folder.environment, "pipe");
			stop.addEventListener("abort", () => engine.kill("SIGTERM"));
			const closed = ended(engine);
			io.print(`Serving at ${await waitForAddress(engine, io)}${basePath}`);
			const code = await closed;
			if (!stop.aborted) throw new Error(`the engine has ended with ${code}`);
		} catch (error) {
			if (!stop.aborted) throw error;
		}
	});
});

export const runs = { deploy, workers };
