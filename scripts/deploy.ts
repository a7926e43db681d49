// npx fragments deploy: deploys the build and the worker to Cloudflare, after a check of its plan's limits (docs/hosting.md)
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Option } from "@commander-js/extra-typings";
import { filesBelow } from "../files/below.ts";
import { withTemporaryFolder } from "../files/temporary-folder.ts";
import { buildWorker, bundlePath } from "../hosting/bundle.ts";
import { buildFolder } from "../hosting/output.ts";
import { parseSecretFile, readSecretFiles } from "../hosting/secrets.ts";
import {
	deploymentEnvironment,
	ended,
	fillDeployFolder,
	installEngine,
	spawnWrangler,
} from "../hosting/wrangler.ts";
import { isCompanion } from "../publish/place-file.mjs";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";

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
	if (files.length === 0) throw new Error(`${dist}: has no files; npx fragments build makes them`);
	if (files.length <= maxFiles) return;
	const [count, limit] = [files.length, maxFiles].map((number) => number.toLocaleString("en"));
	throw new Error(`${dist}: has ${count} files, and Cloudflare's ${plan} plan takes ${limit} in one deployment.
Each layer is two files for each target. The ways out: fewer targets (TARGETS);
--plan paid, where the account has it, which takes 100,000 files;
or past that the fragments in a bucket: npx fragments publish-objects, then npx fragments deploy --objects
(docs/hosting.md, "Past the file limit")`);
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("deploy", io)
		.argument("[option...]", "after another --: further options of wrangler deploy")
		.addOption(
			new Option("--layers <dir>", "the folder of layers that is built into dist")
				.default("layers")
				.conflicts("dist"),
		)
		.option("--dist <dir>", "a build to deploy as it is, instead")
		.addOption(
			new Option("--plan <plan>", "how many files Cloudflare takes ")
				.choices([...maxFilesByPlan.keys()])
				.default(environment.WORKERS_PLAN || "free", "WORKERS_PLAN, or free"),
		)
		.option(
			"--objects",
			"the worker alone: its fragments are those of the bucket OBJECTS_BUCKET that npx fragments publish-objects fills",
		)
		.option(
			"--secret <name=file>",
			"a secret of the worker from a file: SENDERS, GITHUB_TOKEN or GITHUB_APP_PRIVATE_KEY; may be said several times",
			parseSecretFile,
		)
		.option("--dry-run", "everything but the deployment")
		.parse(argv, { from: "user" });
	const options = line.opts();
	const dist = resolve(options.dist ?? "dist");
	const secrets = await readSecretFiles(options.secret ?? []);
	const bucket = environment.OBJECTS_BUCKET;
	if (options.objects && !bucket) throw new Error("OBJECTS_BUCKET: must be set, to the bucket's name");
	if (!options.objects) {
		if (options.dist === undefined) await buildFolder(options.layers, dist, environment);
		await checkFileCount(dist, options.plan);
	}
	await buildWorker();
	await installEngine();
	return withTemporaryFolder("deploy-", async (folder) => {
		// `--keep-vars`: variables and secrets that are set at Cloudflare stay; only the named ones are uploaded.
		const files = await fillDeployFolder(folder, options.objects ? "objects" : "assets", bucket, secrets);
		const args = ["deploy", bundlePath, "--no-bundle", "--keep-vars", ...files];
		if (!options.objects) args.push("--assets", dist);
		if (options.dryRun) args.push("--dry-run");
		args.push(...line.processedArgs[0]);
		const code = await ended(spawnWrangler(args, deploymentEnvironment(environment), "inherit"));
		return code === 0 ? exitCodes.done : exitCodes.unable;
	});
});
