// npm run verify: whether a hosting serves what was built (docs/hosting.md).
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { InvalidArgumentError } from "commander";
import { listBuild, missingPath, sample, verifyHosting } from "./hosting/verify.ts";
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
	let differences = await verifyHosting(address, dist, [...paths, missingPath], () => bar.tick());
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

export const run = createRun(async (argv, _environment, io) => {
	const line = createCommandLine("verify", io)
		.argument("<url>", "the service with its base path, such as https://fragments.example", parseAddress)
		.option("--sample <n>", "look at n fragments only, spread over all", parseCount)
		.option("--wait <seconds>", "look at what differs again, so long, until nothing does", parseCount)
		.option("--dist <dir>", "the build to compare with", "dist")
		.parse(argv, { from: "user" });
	const options = line.opts();
	return verify(line.processedArgs[0], resolve(options.dist), options, io);
});

await runCommand(import.meta.url, run);
