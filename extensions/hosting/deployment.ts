// Puts a worker on Cloudflare with wrangler.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { parseSenders } from "../../api/senders.ts";
import { firstSender } from "../../api/service/senders-file.ts";
import type { Environment } from "../../registry/environment.ts";
import { withTemporaryFolder } from "../../store/files/files.ts";
import { pkcs8Of } from "../../store/github/client.ts";

/** Bytes of one secret or variable of a worker (Cloudflare Workers, "Limits": 5 kB). */
const maxSecretBytes = 5_000;

/** The worker's secrets. */
const secretNames = ["SENDERS", "GITHUB_TOKEN", "GITHUB_APP_PRIVATE_KEY"];

/** A secret's name, and the path of the file with its value. */
interface SecretFile {
	name: string;
	path: string;
}

/** Parses `NAME=FILE`, and appends it. @throws {InvalidArgumentError} for anything else */
export function parseSecretFile(text: string, before: SecretFile[] = []): SecretFile[] {
	const [, name, path] = /^([A-Z_]+)=(.+)$/.exec(text) ?? [];
	if (name === undefined || path === undefined || !secretNames.includes(name))
		throw new InvalidArgumentError(`It must be NAME=FILE, NAME one of ${secretNames.join(", ")}.`);
	return [...before, { name, path }];
}

/**
 * Reads and checks the secrets of a worker, in parts of the size that Cloudflare accepts.
 * @param warn gets a text about what is accepted, but probably not meant
 * @throws {Error} that names the file and the rule, and never a secret
 */
export async function readSecretFiles(
	files: readonly SecretFile[],
	warn: (text: string) => void,
): Promise<Map<string, string>> {
	const secrets = new Map<string, string>();
	for (const { name, path } of files) {
		const text = (await readFile(path, "utf8")).trim();
		for (const [part, value] of checkedParts(name, text, path, warn)) secrets.set(part, value);
	}
	return secrets;
}

function checkedParts(
	name: string,
	text: string,
	path: string,
	warn: (text: string) => void,
): [string, string][] {
	if (name === "SENDERS") return sendersParts(text, path, warn);
	if (text === "") throw new Error(`${path}: is empty`);
	const size = Buffer.byteLength(text);
	if (size > maxSecretBytes)
		throw new Error(`${path}: has ${size} bytes, and a worker's secret takes ${maxSecretBytes}`);
	try {
		if (name === "GITHUB_APP_PRIVATE_KEY") pkcs8Of(text);
	} catch {
		throw new Error(`${path}: is not the private key of an App in PEM, as GitHub hands it out`);
	}
	return [[name, text]];
}

/**
 * The senders as `SENDERS`, `SENDERS_2`, …, and a blank last part. The worker joins the parts before the blank one. It
 * thereby ignores further parts of an earlier deployment, in which removed senders may be.
 */
function sendersParts(text: string, path: string, warn: (text: string) => void): [string, string][] {
	const trial = parseSenders(text, path).get(firstSender);
	if (trial?.smallkeys === null)
		warn(
			`${path}: the sender ${firstSender} of a trial may change every layer; if that is not meant: npx fragment-publisher sender remove ${firstSender}, and deploy again`,
		);
	// In ASCII a character is one byte, so that the text can be cut anywhere.
	const compact = JSON.stringify(JSON.parse(text)).replace(
		/[^\0-~]/g,
		(unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
	const parts = compact.match(new RegExp(`.{1,${maxSecretBytes}}`, "g")) ?? [];
	return [...parts, " "].map((part, index) => [index === 0 ? "SENDERS" : `SENDERS_${index + 1}`, part]);
}

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Cloudflare's tool chain (the engine) has its own folder and lock file, so that `npm ci` does not install it. */
export const engineFolder = join(root, "deploy/workers");

const wranglerScript = join(engineFolder, "node_modules/wrangler/bin/wrangler.js");

/** The worker's configuration for fragments as static assets, and as objects of a bucket. */
export const configurations = {
	assets: join(root, "wrangler.jsonc"),
	objects: join(root, "deploy/workers/objects.jsonc"),
};

/** Where the fragments are: static assets, or objects of a bucket. */
export type Hosting = keyof typeof configurations;

/** Waits for the end of a process. @returns its exit code, or the signal that ended it */
export async function ended(child: ChildProcess): Promise<number | string | null> {
	const [code, signal] = await once(child, "close");
	return code ?? signal;
}

/** Settings that keep wrangler from sending requests that were not asked for. */
export const quiet = {
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

/**
 * Writes a deployment's files into a folder. Only their owner may read the secrets.
 * @param bucket name of the bucket; `objects.jsonc` has only a placeholder
 * @returns wrangler's arguments for them
 */
async function fillDeployFolder(
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

/** What is put on Cloudflare. */
interface Deployment {
	/** Path of the worker's bundle. */
	worker: string;
	/** The folder of static assets; null for a worker that reads the bucket OBJECTS_BUCKET. */
	assets: string | null;
	/** Name → text, as `readSecretFiles` returns them. */
	secrets?: ReadonlyMap<string, string>;
	/** Further options of wrangler. */
	further?: readonly string[];
}

/** Deploys a worker with wrangler. @returns whether it could */
export function deployWorker(
	{ worker, assets, secrets = new Map(), further = [] }: Deployment,
	env: Environment,
): Promise<boolean> {
	return withTemporaryFolder("deploy-", async (folder) => {
		// `--keep-vars`: variables and secrets that are set at Cloudflare stay; only the named ones are uploaded.
		const hosting = assets === null ? "objects" : "assets";
		const files = await fillDeployFolder(folder, hosting, env.OBJECTS_BUCKET, secrets);
		const args = ["deploy", worker, "--no-bundle", "--keep-vars", ...files];
		if (assets !== null) args.push("--assets", assets);
		args.push(...further);
		return (await ended(spawnWrangler(args, deploymentEnvironment(env), "inherit"))) === 0;
	});
}
