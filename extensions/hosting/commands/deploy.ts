import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidArgumentError, Option } from "@commander-js/extra-typings";
import { build } from "esbuild";
import type { Environment } from "../../../api/configuration.ts";
import { parseSenders } from "../../../api/senders.ts";
import { placeFile } from "../../../publish/place-file.ts";
import { createRun, exitCodes } from "../../../scripts/terminal/command-line.ts";
import { buildFolder } from "../../../site/build/output.ts";
import { standaloneValidators } from "../../../site/data/standalone.ts";
import { withTemporaryFolder } from "../../../store/files/files.ts";
import { readCommit } from "../../../store/files/version.ts";
import { pkcs8Of } from "../../../store/github/credentials.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

export const bundlePath = join(root, "deploy/workers/dist/worker.js");

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
		plugins: [standaloneValidators],
		logLevel: "silent",
	});
	return result.outputFiles[0]?.contents ?? new Uint8Array(0);
}

/** Writes the worker's bundle if its bytes have changed: an engine that runs it restarts at each write. */
export async function buildWorker(): Promise<void> {
	await mkdir(dirname(bundlePath), { recursive: true });
	placeFile(dirname(bundlePath), basename(bundlePath), await bundle("scripts/worker.ts"));
}

/** Cloudflare Workers, "Limits": 5 kB. */
const maxSecretBytes = 5_000;

const secretNames = ["SENDERS", "GITHUB_TOKEN", "GITHUB_APP_PRIVATE_KEY"];

type SecretFile = { name: string; path: string };

function parseSecretFile(text: string, before: SecretFile[] = []): SecretFile[] {
	const [, name, path] = /^([A-Z_]+)=(.+)$/.exec(text) ?? [];
	if (name === undefined || path === undefined || !secretNames.includes(name))
		throw new InvalidArgumentError(`It must be NAME=FILE, NAME one of ${secretNames.join(", ")}.`);
	return [...before, { name, path }];
}

/** Secrets of a size that Cloudflare accepts. @throws {Error} that names the file and the rule, and never a secret */
export async function readSecretFiles(files: readonly SecretFile[]): Promise<Map<string, string>> {
	const parts: [string, string][] = [];
	for (const { name, path } of files) {
		const text = (await readFile(path, "utf8")).trim();
		if (name === "SENDERS") parts.push(...splitSenders(text, path));
		else parts.push([name, checkSecret(name, text, path)]);
	}
	return new Map(parts);
}

function checkSecret(name: string, text: string, path: string) {
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

/** `SENDERS`, `SENDERS_2`, …, and a blank part: the worker ignores later ones, which an earlier deployment may have left. */
function splitSenders(text: string, path: string): [string, string][] {
	parseSenders(text, path);
	// ASCII can be cut anywhere.
	const compact = JSON.stringify(JSON.parse(text)).replace(
		/[^\0-~]/g,
		(unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
	const parts = compact.match(new RegExp(`.{1,${maxSecretBytes}}`, "g")) ?? [];
	return [...parts, " "].map((part, index) => [index === 0 ? "SENDERS" : `SENDERS_${index + 1}`, part]);
}

/** Variables that wrangler gets, in any case: no secrets of senders, of GitHub or of the bucket. */
const deploymentNames =
	/^(?:PATH|HOME|XDG_CONFIG_HOME|TMPDIR|LANG|LC_ALL|TERM|CI|(?:https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|CLOUDFLARE_\w+|WRANGLER_\w+)$/i;

export function deploymentEnvironment(env: Environment): NodeJS.ProcessEnv {
	return Object.fromEntries(Object.entries(env).filter(([name]) => deploymentNames.test(name)));
}

export const wranglerPath = join(root, "deploy/workers/node_modules/wrangler/bin/wrangler.js");

/** The configuration of a worker that reads a bucket. */
export async function bucketConfiguration(bucket: string | undefined): Promise<string> {
	if (!bucket) throw new Error("OBJECTS_BUCKET: must be set, to the bucket's name");
	const text = await readFile(join(root, "deploy/workers/objects.jsonc"), "utf8");
	return text.replace(/(?<="bucket_name": )"[^"]*"/, () => JSON.stringify(bucket));
}

/** @returns exit code */
async function runWrangler(args: string[], environment: Environment): Promise<number> {
	const telemetry = { WRANGLER_SEND_METRICS: "false", WRANGLER_SEND_ERROR_REPORTS: "false" };
	const env = { ...deploymentEnvironment(environment), ...telemetry, WRANGLER_HIDE_BANNER: "true" };
	const stdio: StdioOptions = ["ignore", "inherit", "inherit"];
	// A signal to `npx` would not end wrangler.
	const wrangler = spawn(process.execPath, [wranglerPath, ...args], { cwd: root, env, stdio });
	const [code] = await once(wrangler, "close");
	return code === 0 ? exitCodes.done : exitCodes.unable;
}

export const run = createRun(async ({ read, environment, extensions }) => {
	const [{ layers, dist, objects, secret, prepare }, further] = await read((line) =>
		line
			.argument("[option...]", "after another --: further options of wrangler deploy, such as --dry-run")
			.addOption(
				new Option("--layers <dir>", "the folder of layers that is built into dist")
					.default("layers")
					.conflicts("dist"),
			)
			.option("--dist <dir>", "a build to deploy as it is, instead")
			.option(
				"--objects",
				"the worker alone: its fragments are those of the bucket OBJECTS_BUCKET that deploy/fill-bucket.sh fills",
			)
			.option(
				"--secret <name=file>",
				"a secret of the worker from a file: SENDERS, GITHUB_TOKEN or GITHUB_APP_PRIVATE_KEY; may be said several times",
				parseSecretFile,
			)
			.option("--prepare", "only build dist, and the worker, deploy/workers/dist/worker.js"),
	);
	const secrets = await readSecretFiles(secret ?? []);
	const configuration = objects ? await bucketConfiguration(environment.OBJECTS_BUCKET) : null;
	if (!prepare && !existsSync(wranglerPath))
		throw new Error("wrangler is not installed: npm ci --omit=dev --prefix deploy/workers");
	const assets = resolve(dist ?? "dist");
	if (!objects && dist === undefined) await buildFolder(layers, assets, environment, { extensions });
	await buildWorker();
	if (prepare) return exitCodes.done;
	return withTemporaryFolder("deploy-", async (folder) => {
		const write = async (name: string, text: string) => {
			await writeFile(join(folder, name), text, { mode: 0o600 });
			return join(folder, name);
		};
		// Variables and secrets that are set at Cloudflare stay.
		const args = ["deploy", bundlePath, "--no-bundle", "--keep-vars"];
		if (configuration === null) args.push("--assets", assets);
		else args.push("--config", await write("wrangler.jsonc", configuration));
		if (secrets.size > 0)
			args.push("--secrets-file", await write("secrets.json", JSON.stringify(Object.fromEntries(secrets))));
		return runWrangler([...args, ...further], environment);
	});
});
