// npm run verify: whether a hosting serves what was built (docs/hosting.md).
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Option } from "@commander-js/extra-typings";
import { InvalidArgumentError } from "commander";
import { build, type Source } from "./build/build.ts";
import { nameSource, refOption, repoOption } from "./build/source.ts";
import { listBuild, missingPaths, sample, verifyHosting } from "./hosting/verify.ts";
import { type Configuration, readConfiguration, withoutStore } from "./service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseCount, runCommand } from "./terminal/command-line.ts";
import { type Io, printError, printLine } from "./terminal/io.ts";
import { plain } from "./terminal/plain.ts";
import { progress } from "./terminal/progress.ts";

/** Pause between two looks, in milliseconds. */
const pauseMs = 1_000;

interface Options {
	/** Most fragments that are looked at; undefined: all. */
	sample?: number | undefined;
	/** How long it is looked again, in seconds. */
	wait?: number | undefined;
}

/** Looks again at what differs until nothing does or the time is over: a CDN changes over within seconds. */
async function verify(
	address: string,
	dist: string,
	{ sample: most, wait = 0 }: Options,
	io: Io,
): Promise<number> {
	const all = await listBuild(dist);
	const paths = most === undefined ? all : sample(all, most);
	const bar = progress(paths.length + 1, "verifying");
	const until = Date.now() + wait * 1000;
	let differences = await verifyHosting(address, dist, [...paths, ...missingPaths], () => bar.tick());
	bar.stop();
	while (differences.length > 0 && Date.now() < until) {
		await sleep(pauseMs);
		const left = differences.map(({ path }) => path);
		differences = await verifyHosting(address, dist, left, () => undefined);
	}
	for (const { path, text } of differences) printError(io, plain(`${path}: ${text}`));
	const looked = `${paths.length} of ${all.length} fragments`;
	printLine(
		io,
		`${looked} looked at: ${differences.length === 0 ? "all as built" : `${differences.length} differ`}`,
	);
	return differences.length === 0 ? exitCodes.done : exitCodes.wrong;
}

/** The service's address without a `/` at its end. */
function parseAddress(text: string): string {
	if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/(?<!\/)\/+$/, "");
	throw new InvalidArgumentError(`It must be an http or https address, not ${text}.`);
}

/** Builds into a folder of its own, which goes afterwards. @throws {Error} where the layers are not in order */
async function withBuild(
	source: Source,
	configuration: Configuration,
	use: (dist: string) => Promise<number>,
): Promise<number> {
	const folder = await mkdtemp(join(tmpdir(), "verify-"));
	try {
		const dist = join(folder, "dist");
		const { problems, written } = await build(source, dist, configuration);
		if (!written) throw new Error(problems.map(plain).join("\n"));
		return await use(dist);
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("verify", io)
		.argument("<url>", "the service with its base path, such as https://fragments.example", parseAddress)
		.option("--sample <n>", "look at n fragments only, spread over all", parseCount)
		.option("--wait <seconds>", "look at what differs again, so long, until nothing does", parseCount)
		.addOption(new Option("--dist <dir>", "the build to compare with").default("dist").conflicts("repo"))
		.addOption(repoOption)
		.addOption(refOption)
		.parse(argv, { from: "user" });
	const { dist, repo, ref, ...options } = line.opts();
	const [address] = line.processedArgs;
	if (repo === undefined) {
		if (ref !== undefined) throw new Error("--ref: is for --repo");
		printError(io, `Comparing ${address} with the build in ${resolve(dist)}`);
		return verify(address, resolve(dist), options, io);
	}
	const { source, name } = nameSource({ repo, ref });
	printError(io, `Comparing ${address} with a build of ${name}`);
	const configuration = readConfiguration(withoutStore(environment));
	return withBuild(source, configuration, (folder) => verify(address, folder, options, io));
});

await runCommand(import.meta.url, run);
