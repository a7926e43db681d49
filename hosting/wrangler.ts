import { type ChildProcess, spawn } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { catalogueFolders } from "../catalogue/state.ts";
import { readTextIfThere } from "../files/if-there.ts";
import { slotFolder, slotsOf } from "../publish/slots.ts";
import type { Environment } from "../service/settings.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Cloudflare's tool chain has a folder and a lock file of its own: `npm ci` of the service does not carry it. */
const engineFolder = join(root, "deploy/workers");

const wranglerScript = join(engineFolder, "node_modules/wrangler/bin/wrangler.js");

/** The worker's configuration for fragments as static assets, and as objects of a bucket. */
const configurations = { assets: "wrangler.jsonc", objects: "deploy/workers/objects.jsonc" };

/** Those of the configuration's variables that a worker reads. */
const variableNames = [
	"SENDERS",
	"BASE_PATH",
	"PUBLIC_URL",
	"SITE",
	"DOCS_MAX_KEYS",
	"TARGETS",
	"METADATA_URL",
	"CATALOGUE_URL",
	"GITHUB_REPOSITORY",
	"GITHUB_TOKEN",
	"GITHUB_APP_ID",
	"GITHUB_APP_PRIVATE_KEY",
	"GITHUB_BRANCH",
	"GITHUB_API_URL",
];

/** Where the fragments are: files beside the worker, or objects of a bucket. */
export type Hosting = keyof typeof configurations;

/** Path of the worker's configuration. */
function configurationPath(hosting: Hosting): string {
	return join(root, configurations[hosting]);
}

/** The variables for a worker: those that are set. */
export function workerVariables(env: Environment): [string, string][] {
	return variableNames.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
}

/** Whether the engine is installed, in the version that its lock file names. */
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

/** Installs the engine from its lock file where it is not there: once, about 200 MB. */
export async function installEngine(): Promise<void> {
	if (await isEngineInstalled()) return;
	console.log("Installing Cloudflare's tool chain in deploy/workers (once)");
	const npm = spawn("npm", ["ci", "--omit=dev"], {
		cwd: engineFolder,
		stdio: ["ignore", "ignore", "inherit"],
	});
	const code = await ended(npm);
	if (code !== 0) throw new Error(`npm ci in deploy/workers: ended with ${code}`);
}

/** Waits for a process. @returns its exit code, or the signal that ended it */
export function ended(child: ChildProcess): Promise<number | string | null> {
	return new Promise((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => resolve(code ?? signal));
	});
}

/** Settings of wrangler's under which it asks nobody on the network what was not asked of it. */
const quiet = {
	WRANGLER_SEND_METRICS: "false",
	WRANGLER_SEND_ERROR_REPORTS: "false",
	WRANGLER_HIDE_BANNER: "true",
	CLOUDFLARE_CF_FETCH_ENABLED: "false",
	NO_COLOR: "1",
};

/** Of the caller's environment what a deployment needs: the machine, the way out, and who it is at Cloudflare. */
const deploymentNames = [
	["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LANG", "LC_ALL", "TERM", "CI"],
	["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"],
	["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
	["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_KEY", "CLOUDFLARE_EMAIL"],
	["CLOUDFLARE_API_BASE_URL", "WRANGLER_API_ENVIRONMENT", "WRANGLER_LOG", "WRANGLER_LOG_PATH"],
	// Windows finds nothing without these.
	["SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "ComSpec"],
].flat();

/**
 * The environment of a deployment: wrangler and what it brings along have no business with the senders' secrets, or
 * with GitHub's and the bucket's keys.
 */
export function deploymentEnvironment(env: Environment): NodeJS.ProcessEnv {
	return Object.fromEntries(deploymentNames.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Starts wrangler's own script with node: a signal to `npx` would leave workerd behind. */
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

/** Brings the local runtime's bucket in step with a build. */
export async function fillLocalBucket(folder: RunFolder, persist: string, dist: string): Promise<void> {
	const folders = [...slotsOf({}).map(slotFolder), ...catalogueFolders];
	const words = [join(engineFolder, "fill-bucket.mjs"), folder.configuration, persist, dist, ...folders];
	const env = { ...quiet, ...folder.environment };
	const child = spawn(process.execPath, words, { cwd: root, env, stdio: ["ignore", "ignore", "inherit"] });
	const code = await ended(child);
	if (code !== 0) throw new Error(`filling the local bucket: ended with ${code}`);
}

/** A folder of a run's own, for what wrangler writes and what nobody else may read. */
export interface RunFolder {
	path: string;
	/** The configuration, beside the `.dev.vars` that wrangler looks for there. */
	configuration: string;
	/** Environment in which wrangler writes here and nowhere else, and sees none of our variables. */
	environment: NodeJS.ProcessEnv;
	remove: () => Promise<void>;
}

/** Makes the folder of one run, with the variables in a file that only its owner can read. */
export async function makeRunFolder(hosting: Hosting, variables: [string, string][]): Promise<RunFolder> {
	const path = await mkdtemp(join(tmpdir(), "workers-"));
	const remove = () => rm(path, { recursive: true, force: true });
	try {
		const configuration = join(path, "wrangler.jsonc");
		await copyFile(configurationPath(hosting), configuration);
		const text = variables.map(([name, value]) => `${name}=${quoted(name, value)}\n`).join("");
		await writeFile(join(path, ".dev.vars"), text, { mode: 0o600 });
		const own = { HOME: path, XDG_CONFIG_HOME: path, WRANGLER_LOG_PATH: path };
		return { path, configuration, environment: { PATH: process.env.PATH, ...own }, remove };
	} catch (error) {
		await remove();
		throw error;
	}
}

/** A value as dotenv reads it: between quotes that it does not hold itself; there is no escaping inside them. */
function quoted(name: string, value: string): string {
	const quote = ["'", "`"].find((candidate) => !value.includes(candidate));
	if (quote === undefined) throw new Error(`${name}: must not hold both ' and \``);
	return quote + value + quote;
}

/** What a deployment needs in files: they go afterwards. */
export interface DeployFolder {
	/** What wrangler is told of them. */
	words: string[];
	remove: () => Promise<void>;
}

/**
 * Writes what a deployment needs in files that only their user can read.
 * @param bucket name of the bucket; it stands in the environment alone
 */
export async function makeDeployFolder(
	hosting: Hosting,
	bucket: string | undefined,
	secrets: ReadonlyMap<string, string>,
): Promise<DeployFolder> {
	const path = await mkdtemp(join(tmpdir(), "deploy-"));
	const remove = () => rm(path, { recursive: true, force: true });
	try {
		const words = ["--config", configurationPath(hosting)];
		if (hosting === "objects") {
			const text = await readFile(configurationPath(hosting), "utf8");
			const named = text.replace(/("bucket_name": )"[^"]*"/, (_all, name) => name + JSON.stringify(bucket));
			words[1] = join(path, "wrangler.jsonc");
			await writeFile(words[1], named);
		}
		if (secrets.size > 0) {
			words.push("--secrets-file", join(path, "secrets.json"));
			const text = JSON.stringify(Object.fromEntries(secrets));
			await writeFile(join(path, "secrets.json"), text, { mode: 0o600 });
		}
		return { words, remove };
	} catch (error) {
		await remove();
		throw error;
	}
}
