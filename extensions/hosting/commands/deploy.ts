// npx fragment-publisher deploy and workers: put the build and the worker on Cloudflare, or serve them in its local runtime
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import { type Environment, type Io, readGitHub, readServing, Variables } from "../../../api/configuration.ts";
import { readSenders } from "../../../api/service/senders-file.ts";
import { type Configuration, readConfiguration } from "../../../api/service/settings.ts";
import { isCompanion } from "../../../publish/place-file.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { buildFolder } from "../../../site/build/output.ts";
import { filesBelow, readTextIfThere, withTemporaryFolder } from "../../../store/files/files.ts";
import {
	buildWorker,
	bundlePath,
	deployWorker,
	ended,
	engineFolder,
	parseSecretFile,
	quiet,
	readSecretFiles,
	root,
	spawnWrangler,
	writeConfiguration,
} from "../deployment.ts";

/** The variables that a worker reads. */
function workerVariables(env: Environment) {
	const variables = new Variables({ GITHUB_REPOSITORY: "owner/name" });
	readServing(variables, { fallback: 1, max: 1 });
	readGitHub(variables);
	return Object.fromEntries([...variables.names].map((name) => [name, env[name]]));
}

/** In the version of its lock file. */
export async function isEngineInstalled(): Promise<boolean> {
	const versionIn = async (name: string): Promise<unknown> => {
		const lock = JSON.parse((await readTextIfThere(join(engineFolder, name))) ?? "{}");
		return lock.packages?.["node_modules/wrangler"]?.version;
	};
	return (await versionIn("package-lock.json")) === (await versionIn("node_modules/.package-lock.json"));
}

async function installEngine(io: Io): Promise<void> {
	if (await isEngineInstalled()) return;
	io.print("Installing Cloudflare's tool chain in deploy/workers (once)");
	await done("npm ci in deploy/workers", "npm", ["ci", "--omit=dev"], { cwd: engineFolder });
}

async function done(what: string, command: string, args: string[], options: SpawnOptions): Promise<void> {
	const code = await ended(spawn(command, args, { ...options, stdio: ["ignore", "ignore", "inherit"] }));
	if (code !== 0) throw new Error(`${what}: ended with ${code}`);
}

async function fillLocalBucket(configuration: string, persist: string, dist: string, env: NodeJS.ProcessEnv) {
	const list = `${configuration}.objects`;
	await writeFile(list, JSON.stringify(filesBelow(dist).filter((path) => !isCompanion(path))));
	const words = [join(engineFolder, "fill-bucket.mjs"), configuration, persist, dist, list];
	await done("filling the local bucket", process.execPath, words, { cwd: root, env: { ...quiet, ...env } });
}

const layersOption = new Option("--layers <dir>", "the folder of layers that is built into dist")
	.default("layers")
	.conflicts("dist");

/** Static assets of one deployment (Cloudflare Workers, "Limits"). Wrangler's dry run does not check their number. */
const maxFilesByPlan: ReadonlyMap<string, number> = new Map([
	["free", 20_000],
	["paid", 100_000],
]);

/** @throws {Error} if the plan does not allow that many files, or there is none */
function checkFileCount(dist: string, plan: string): void {
	const maxFiles = maxFilesByPlan.get(plan);
	// WORKERS_PLAN is not checked as the option is.
	if (maxFiles === undefined) throw new Error(`--plan: must be free or paid, not ${plan}`);
	const files = existsSync(dist) ? filesBelow(dist).filter((path) => !isCompanion(path)) : [];
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
		checkFileCount(dist, options.plan);
	}
	await buildWorker();
	if (options.prepare) return exitCodes.done;
	await installEngine(io);
	if (options.dryRun) further.unshift("--dry-run");
	const isDone = await deployWorker(options.objects ? null : dist, secrets, further, environment);
	return isDone ? exitCodes.done : exitCodes.unable;
});

/** The engine reports only after a minute that another process listens on the port. */
async function checkPort({ host, port }: Configuration): Promise<void> {
	const probe = createServer().listen(port, host);
	await once(probe, "listening").catch((error: Error) => {
		throw new Error(`PORT: cannot listen on ${host}:${port}: ${error.message}`);
	});
	await once(probe.close(), "close");
}

/** `endMs`: from the request to end until it is killed. */
const engineLimits = { startMs: 180_000, endMs: 5_000 };

/** Prints the worker's log (JSON lines) and errors. @throws {Error} with what the engine has said, if it does not start */
export async function waitForAddress(
	engine: ChildProcess,
	io: Pick<Io, "print" | "warn">,
	{ startMs, endMs } = engineLimits,
): Promise<string> {
	const output: string[] = [];
	const listening = new Promise<{ address: string }>((resolve) => {
		createInterface({ input: engine.stdout as NodeJS.ReadableStream }).on("line", (line) => {
			const [, address] = /Ready on (http:\S+)/.exec(line) ?? [];
			if (line.startsWith("{")) io.print(line);
			else output.push(line);
			if (address !== undefined) resolve({ address });
		});
	});
	createInterface({ input: engine.stderr as NodeJS.ReadableStream }).on("line", io.warn);
	const closed = once(engine, "close").then(([code]) => `it ended with ${code}`);
	const late = sleep(startMs, `not within ${startMs / 1_000} s`, { ref: false });
	const result = await Promise.race([listening, closed, late]);
	if (typeof result !== "string") return result.address;
	engine.kill("SIGTERM");
	await Promise.race([closed, sleep(endMs)]);
	engine.kill("SIGKILL");
	// A process of the engine may keep them open.
	for (const stream of [engine.stdout, engine.stderr]) stream?.destroy();
	throw new Error([...output, `the engine did not start: ${result}`].join("\n"));
}

/** The worker gets all variables of wrangler's process, which has no others than it needs. */
const passOn = { CLOUDFLARE_INCLUDE_PROCESS_ENV: "true" };

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
	await installEngine(io);
	if (options.dist === undefined) await buildFolder(options.layers, dist, environment, { extensions });
	await buildWorker();
	// Without SENDERS the worker gets the senders of this machine's service.
	const { text, place, created } = await readSenders(environment, dataDir);
	io.print(`Senders: ${place}${created ? `, created now with the sender ${created}` : ""}`);
	await withTemporaryFolder("workers-", async (path) => {
		const configuration = await writeConfiguration(path, options.objects ? "objects" : "assets");
		// Wrangler writes to this folder only.
		const folders = { HOME: path, XDG_CONFIG_HOME: path, TMPDIR: path, WRANGLER_LOG_PATH: path };
		const env = { PATH: process.env.PATH, ...folders };
		const args = ["dev", bundlePath, "--no-bundle", "--local", "--config", configuration];
		args.push(`--ip=${host}`, `--port=${port}`, "--inspector-port=0");
		args.push("--show-interactive-dev-session=false", "--persist-to", persisted);
		if (!options.objects) args.push("--assets", dist);
		try {
			if (options.objects) await fillLocalBucket(configuration, persisted, dist, env);
			if (stop.aborted) return;
			const variables = { ...workerVariables(environment), SENDERS: text };
			const engine = spawnWrangler(args, { ...env, ...variables, ...passOn }, "pipe");
			stop.addEventListener("abort", () => engine.kill("SIGTERM"));
			const closed = ended(engine);
			io.print(`Serving at ${await waitForAddress(engine, io)}${basePath}`);
			const code = await closed;
			if (!stop.aborted) throw new Error(`the engine has ended with ${code}`);
		} catch (error) {
			// The interruption has ended the process that fills the bucket, or the engine.
			if (!stop.aborted) throw error;
		}
	});
});

export const runs = { deploy, workers };
