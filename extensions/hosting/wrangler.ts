import { type SpawnOptions, spawn } from "node:child_process";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readGitHub, readServing, Variables } from "../../api/configuration.ts";
import { isCompanion } from "../../publish/place-file.mjs";
import type { Environment } from "../../registry/environment.ts";
import { filesBelow } from "../../store/files/below.ts";
import { readTextIfThere } from "../../store/files/if-there.ts";
import { configurations, ended, engineFolder, type Hosting, quiet, root } from "./deployment.ts";

/** The variables of a worker that are set in the environment. */
export function workerVariables(env: Environment): [string, string][] {
	const variables = new Variables({ GITHUB_REPOSITORY: "owner/name" });
	readServing(variables, { fallback: 1, max: 1 });
	readGitHub(variables);
	return ["SENDERS", ...variables.asked].flatMap((name) => (env[name] ? [[name, env[name]]] : []));
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
export async function installEngine(): Promise<void> {
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
export async function fillLocalBucket(
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
export async function fillRunFolder(path: string, hosting: Hosting, variables: [string, string][]) {
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
