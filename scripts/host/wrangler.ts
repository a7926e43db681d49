import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readGitHub, readServing, Variables } from "../../api/configuration.ts";
import { isCompanion } from "../../publish/place-file.mjs";
import type { Environment } from "../../system/environment.ts";
import { filesBelow } from "../../system/files/below.ts";
import { readTextIfThere } from "../../system/files/if-there.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Cloudflare's tool chain (the engine) has its own folder and lock file, so that `npm ci` does not install it. */
const engineFolder = join(root, "deploy/workers");

const wranglerScript = join(engineFolder, "node_modules/wrangler/bin/wrangler.js");

/** The worker's configuration for fragments as static assets, and as objects of a bucket. */
const configurations = {
	assets: join(root, "wrangler.jsonc"),
	objects: join(root, "deploy/workers/objects.jsonc"),
};

/** Where the fragments are: static assets, or objects of a bucket. */
type Hosting = keyof typeof configurations;

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

/** Waits for the end of a process. @returns its exit code, or the signal that ended it */
export async function ended(child: ChildProcess): Promise<number | string | null> {
	const [code, signal] = await once(child, "close");
	return code ?? signal;
}

/** Settings that keep wrangler from sending requests that were not asked for. */
const quiet = {
	WRANGLER_SEND_METRICS: "false",
	WRANGLER_SEND_ERROR_REPORTS: "false",
	WRANGLER_HIDE_BANNER: "true",
	CLOUDFLARE_CF_FETCH_ENABLED: "false",
	NO_COLOR: "1",
};

/** The variables that a deployment needs: of the machine, of the proxy, and Cloudflare's credentials. */
const deploymentNames = [
	["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LANG", "LC_ALL", "TERM", "CI"],
	["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"],
	["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
	["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_KEY", "CLOUDFLARE_EMAIL"],
	["CLOUDFLARE_API_BASE_URL", "WRANGLER_API_ENVIRONMENT", "WRANGLER_LOG", "WRANGLER_LOG_PATH"],
	// Windows needs these.
	["SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "ComSpec"],
].flat();

/**
 * The environment of a deployment, without the senders' secrets and without the keys of GitHub and of the bucket.
 */
export function deploymentEnvironment(env: Environment): NodeJS.ProcessEnv {
	return Object.fromEntries(deploymentNames.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Starts wrangler's script with node, since a signal to `npx` would not end workerd. */
export function spawnWrangler(
	args: string[],
	env: NodeJS.ProcessEnv,
	stdio: "inherit" | "pipe",
): ChildProcess {
	return spawn(process.execPath, [wranglerScript, ...args], {
		cwd: root,
		env: { ...env, ...quiet },
		stdio: ["ignore", stdio, stdio],
	});
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

/**
 * Writes a deployment's files into a folder. Only their owner may read the secrets.
 * @param bucket name of the bucket; `objects.jsonc` has only a placeholder
 * @returns wrangler's arguments for them
 */
export async function fillDeployFolder(
	path: string,
	hosting: Hosting,
	bucket: string | undefined,
	secrets: ReadonlyMap<string, string>,
): Promise<string[]> {
	const words = ["--config", configurations[hosting]];
	if (hosting === "objects") {
		const text = await readFile(configurations[hosting], "utf8");
		const named = text.replace(/("bucket_name": )"[^"]*"/, (_all, name) => name + JSON.stringify(bucket));
		words[1] = join(path, "wrangler.jsonc");
		await writeFile(words[1], named);
	}
	if (secrets.size > 0) {
		words.push("--secrets-file", join(path, "secrets.json"));
		const text = JSON.stringify(Object.fromEntries(secrets));
		await writeFile(join(path, "secrets.json"), text, { mode: 0o600 });
	}
	return words;
}
