// Puts a worker on Cloudflare with wrangler.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { build, type Plugin } from "esbuild";
import glob from "fast-glob";
import type { Environment } from "../../api/configuration.ts";
import { parseSenders } from "../../api/senders.ts";
import { firstSender } from "../../api/service/senders-file.ts";
import { placeFile } from "../../publish/place-file.ts";
import { compiledSchemas } from "../../registry/schemas/validators.ts";
import { withTemporaryFolder } from "../../store/files/files.ts";
import { readCommit } from "../../store/files/version.ts";
import { pkcs8Of } from "../../store/github/client.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Of one secret of a worker (Cloudflare Workers, "Limits": 5 kB). */
const maxSecretBytes = 5_000;

const secretNames = ["SENDERS", "GITHUB_TOKEN", "GITHUB_APP_PRIVATE_KEY"];

interface SecretFile {
	name: string;
	path: string;
}

export function parseSecretFile(text: string, before: SecretFile[] = []): SecretFile[] {
	const [, name, path] = /^([A-Z_]+)=(.+)$/.exec(text) ?? [];
	if (name === undefined || path === undefined || !secretNames.includes(name))
		throw new InvalidArgumentError(`It must be NAME=FILE, NAME one of ${secretNames.join(", ")}.`);
	return [...before, { name, path }];
}

/** Secrets in parts of the size that Cloudflare accepts. @throws {Error} that names the file and the rule, and never a secret */
export async function readSecretFiles(
	files: readonly SecretFile[],
	warn: (text: string) => void,
): Promise<Map<string, string>> {
	const parts: [string, string][] = [];
	for (const { name, path } of files) {
		const text = (await readFile(path, "utf8")).trim();
		if (name === "SENDERS") parts.push(...sendersParts(text, path, warn));
		else parts.push([name, checkedSecret(name, text, path)]);
	}
	return new Map(parts);
}

function checkedSecret(name: string, text: string, path: string): string {
	if (text === "") throw new Error(`${path}: is empty`);
	const size = Buffer.byteLength(text);
	if (size > maxSecretBytes)
		throw new Error(`${path}: has ${size} bytes, and a worker's secret takes ${maxSecretBytes}`);
	try {
		if (name === "GITHUB_APP_PRIVATE_KEY") pkcs8Of(text);
	} catch {
		throw new Error(`${path}: is not the private key of an App in PEM, as GitHub hands it out`);
	}
	return text;
}

/**
 * `SENDERS`, `SENDERS_2`, …, and a blank last part, after which the worker ignores the parts of an earlier deployment: removed
 * senders may be in them.
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

/** Of Cloudflare's tool chain (the engine), which `npm ci` does not install. */
export const engineFolder = join(root, "deploy/workers");

const wranglerScript = join(engineFolder, "node_modules/wrangler/bin/wrangler.js");

const configurations = { assets: "wrangler.jsonc", objects: "deploy/workers/objects.jsonc" };

/** Writes wrangler's configuration into a folder. @returns its path */
export async function writeConfiguration(
	folder: string,
	hosting: keyof typeof configurations,
	bucket = "fragments",
): Promise<string> {
	const text = await readFile(join(root, configurations[hosting]), "utf8");
	const path = join(folder, "wrangler.jsonc");
	await writeFile(
		path,
		text.replace(/(?<="bucket_name": )"[^"]*"/, () => JSON.stringify(bucket)),
	);
	return path;
}

/** @returns the exit code of a process, or the signal that ended it */
export async function ended(child: ChildProcess): Promise<number | string | null> {
	const [code, signal] = await once(child, "close");
	return code ?? signal;
}

/** Wrangler sends no requests but those of the command. */
export const quiet = {
	WRANGLER_SEND_METRICS: "false",
	WRANGLER_SEND_ERROR_REPORTS: "false",
	WRANGLER_HIDE_BANNER: "true",
	CLOUDFLARE_CF_FETCH_ENABLED: "false",
	NO_COLOR: "1",
};

const deploymentNames = [
	["PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "LANG", "LC_ALL", "TERM", "CI"],
	["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"],
	["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
	["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_API_KEY", "CLOUDFLARE_EMAIL"],
	["CLOUDFLARE_API_BASE_URL", "WRANGLER_API_ENVIRONMENT", "WRANGLER_LOG", "WRANGLER_LOG_PATH"],
	// Windows needs these.
	["SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP", "PATHEXT", "ComSpec"],
].flat();

/** Without the senders' secrets and the keys of GitHub and of the bucket. */
export function deploymentEnvironment(env: Environment): NodeJS.ProcessEnv {
	return Object.fromEntries(deploymentNames.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** With node, since a signal to `npx` would not end workerd. */
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
 * Deploys the worker of `bundlePath`. Variables and secrets that are set at Cloudflare stay.
 * @param assets the folder of static assets; null for a worker that reads the bucket OBJECTS_BUCKET
 * @returns whether it could
 */
export function deployWorker(
	assets: string | null,
	secrets: ReadonlyMap<string, string>,
	further: readonly string[],
	env: Environment,
): Promise<boolean> {
	return withTemporaryFolder("deploy-", async (folder) => {
		const hosting = assets === null ? "objects" : "assets";
		const configuration = await writeConfiguration(folder, hosting, env.OBJECTS_BUCKET);
		const args = ["deploy", bundlePath, "--no-bundle", "--keep-vars", "--config", configuration];
		if (secrets.size > 0) {
			const path = join(folder, "secrets.json");
			await writeFile(path, JSON.stringify(Object.fromEntries(secrets)), { mode: 0o600 });
			args.push("--secrets-file", path);
		}
		if (assets !== null) args.push("--assets", assets);
		const wrangler = spawnWrangler([...args, ...further], deploymentEnvironment(env), "inherit");
		return (await ended(wrangler)) === 0;
	});
}

export const bundlePath = join(root, "deploy/workers/dist/worker.js");

type Routes = Record<string, Record<string, unknown>>;

/** Removes unused routes of octokit, which would be a third of the worker. */
const usedRoutes: Plugin = {
	name: "used-routes",
	setup(setup) {
		setup.onLoad({ filter: /plugin-rest-endpoint-methods\/.*\/endpoints\.js$/ }, async ({ path }) => {
			const { default: table } = (await import(pathToFileURL(path).href)) as { default: Routes };
			const files = await glob("store/github/**", { cwd: root, absolute: true });
			const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
			const used: Routes = {};
			for (const [, scope = "", name = ""] of texts.join("\n").matchAll(/\brest\.(\w+)\.(\w+)/g))
				used[scope] = { ...used[scope], [name]: table[scope]?.[name] };
			return { contents: `export default ${JSON.stringify(used)};`, loader: "js" };
		});
	},
};

/** Bundles a module of the worker. @param entry its path in the project */
export async function bundle(entry: string): Promise<Uint8Array> {
	const result = await build({
		entryPoints: [join(root, entry)],
		bundle: true,
		write: false,
		format: "esm",
		target: "es2022",
		conditions: ["workerd", "worker", "browser"],
		mainFields: ["module", "main"],
		minify: true,
		define: { BUNDLED_COMMIT: JSON.stringify(readCommit()) },
		legalComments: "none",
		plugins: [compiledSchemas, usedRoutes],
		logLevel: "silent",
	});
	return result.outputFiles[0]?.contents ?? new Uint8Array(0);
}

/** Writes the worker's bundle if its bytes have changed: an engine that runs it restarts at each write. */
export async function buildWorker(path = bundlePath): Promise<void> {
	await mkdir(dirname(path), { recursive: true });
	placeFile(dirname(path), basename(path), await bundle("scripts/worker.ts"));
}
