// npm run deploy: the build and the worker to Cloudflare, after a check of what its plan takes (docs/hosting.md).
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import glob from "fast-glob";
import { build } from "./build/build.ts";
import { buildWorker, bundlePath, sizeLine } from "./hosting/bundle.ts";
import { writeHostingFiles } from "./hosting/files.ts";
import { configurationPath, ended, installEngine, spawnWrangler } from "./hosting/wrangler.ts";
import { type Environment, readConfiguration, withoutStore } from "./service/settings.ts";
import { runCommand } from "./terminal/command-line.ts";

const usage = `npm run deploy [-- [--layers DIR | --dist DIR] [--plan free|paid] [--objects] [--dry-run] [-- WRANGLER'S OPTIONS]]

  --layers DIR   the folder of layers that is built into dist (layers)
  --dist DIR     a build to deploy as it is, instead
  --plan PLAN    how many files Cloudflare takes: free or paid (WORKERS_PLAN, or free)
  --objects      the worker alone: its fragments are the bucket's that npm run publish-objects fills
  --dry-run      wrangler's: everything but the deployment`;

const options = {
	layers: { type: "string" },
	dist: { type: "string" },
	plan: { type: "string" },
	objects: { type: "boolean" },
	"dry-run": { type: "boolean" },
	help: { type: "boolean", short: "h" },
} as const;

/** Most static assets of one deployment (Cloudflare Workers, "Limits"); wrangler's dry run does not check it. */
const plans: ReadonlyMap<string, number> = new Map([
	["free", 20_000],
	["paid", 100_000],
]);

function parseWords() {
	try {
		return parseArgs({ options, allowPositionals: true });
	} catch (error) {
		throw new Error(`${(error as Error).message}\nusage: ${usage}`);
	}
}

type Words = ReturnType<typeof parseWords>["values"];

/** @throws {Error} where the build has more files than the plan takes, with the way out */
async function checkFileCount(dist: string, plan: string): Promise<void> {
	const most = plans.get(plan);
	if (most === undefined) throw new Error(`--plan: must be free or paid, not ${plan}`);
	const files = await glob("**", { cwd: dist, ignore: ["**/*.gz", "**/*.br"] });
	if (files.length === 0) throw new Error(`${dist}: has no files; npm run build makes them`);
	if (files.length <= most) return;
	const [count, limit] = [files.length, most].map((number) => number.toLocaleString("en"));
	throw new Error(`${dist}: has ${count} files, and Cloudflare's ${plan} plan takes ${limit} in one deployment.
The way out: --plan paid, where the account has it, takes 100,000. Past that the fragments go to a bucket:
npm run publish-objects, then npm run deploy -- --objects (docs/hosting.md, "Past the file limit")`);
}

async function buildFragments(layers: string, dist: string, env: Environment): Promise<void> {
	const { problems, written } = await build({ folder: layers }, dist, readConfiguration(withoutStore(env)));
	if (!written) throw new Error([...problems, `${problems.length} problems; nothing was written`].join("\n"));
	await writeHostingFiles(dist, false);
}

/** The worker's variables and secrets are those that it has at Cloudflare and in wrangler.jsonc: none goes from here. */
async function deploy(env: Environment, words: Words, passed: string[]): Promise<number> {
	const dist = resolve(words.dist ?? "dist");
	if (!words.objects) {
		if (words.dist === undefined) await buildFragments(words.layers ?? "layers", dist, env);
		await checkFileCount(dist, words.plan ?? (env.WORKERS_PLAN || "free"));
	}
	for (const size of await buildWorker()) console.log(sizeLine(size));
	await installEngine();
	const hosting = words.objects ? "objects" : "assets";
	const args = ["deploy", bundlePath, "--no-bundle", "--keep-vars", "--config", configurationPath(hosting)];
	if (!words.objects) args.push("--assets", dist);
	if (words["dry-run"]) args.push("--dry-run");
	const code = await ended(spawnWrangler([...args, ...passed], process.env, "inherit"));
	return code === 0 ? 0 : 1;
}

await runCommand(async () => {
	const { values, positionals } = parseWords();
	if (!values.help) return deploy(process.env, values, positionals);
	console.log(usage);
	return 0;
});
