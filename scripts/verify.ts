// npm run verify -- URL [--sample N] [--wait SECONDS] [--dist DIR]: whether a hosting serves what was built (docs/hosting.md).
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { listBuild, missingPath, sample, verifyHosting } from "./hosting/verify.ts";
import { runCommand } from "./terminal/command-line.ts";
import { plain } from "./terminal/plain.ts";
import { progress } from "./terminal/progress.ts";

const usage = `npm run verify -- URL [--sample N] [--wait SECONDS] [--dist DIR]

  URL          address of the service with its base path, such as https://fragments.example
  --sample N   look at N fragments only, spread over all
  --wait S     look at what differs again, for S seconds, until nothing does
  --dist DIR   the build to compare with (dist)`;

/** Pause between two looks, in milliseconds. */
const between = 1_000;

const options = {
	sample: { type: "string" },
	wait: { type: "string" },
	dist: { type: "string" },
	help: { type: "boolean", short: "h" },
} as const;

function parseWords() {
	try {
		return parseArgs({ options, allowPositionals: true });
	} catch (error) {
		throw new Error(`${(error as Error).message}\nusage: ${usage}`);
	}
}

/** Looks again at what differs until nothing does or the time is over: a CDN changes over within seconds. */
async function verify(address: string, dist: string, most: number | null, wait: number): Promise<number> {
	const all = await listBuild(dist);
	const paths = most === null ? all : sample(all, most);
	const bar = progress(paths.length + 1, "verifying");
	const until = Date.now() + wait * 1000;
	let differences = await verifyHosting(address, dist, [...paths, missingPath], () => bar.tick());
	bar.stop();
	while (differences.length > 0 && Date.now() < until) {
		await sleep(between);
		const left = differences.map(({ path }) => path);
		differences = await verifyHosting(address, dist, left, () => undefined);
	}
	for (const { path, text } of differences) console.error(plain(`${path}: ${text}`));
	const looked = `${paths.length} of ${all.length} fragments`;
	console.log(
		`${looked} looked at: ${differences.length === 0 ? "all as built" : `${differences.length} differ`}`,
	);
	return differences.length === 0 ? 0 : 1;
}

/** A whole number of a word. @throws {Error} that names the word */
function parseCount(name: string, text: string): number {
	if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${name}: must be a whole number from 1, not ${text}`);
	return Number(text);
}

await runCommand(async () => {
	const { values, positionals } = parseWords();
	if (values.help) {
		console.log(usage);
		return 0;
	}
	const [address, ...rest] = positionals;
	if (address === undefined || rest.length > 0) throw new Error(`usage: ${usage}`);
	if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
		throw new Error(`URL: must be an http or https address, not ${address}`);
	}
	const most = values.sample === undefined ? null : parseCount("--sample", values.sample);
	const wait = values.wait === undefined ? 0 : parseCount("--wait", values.wait);
	return verify(address.replace(/\/+$/, ""), resolve(values.dist ?? "dist"), most, wait);
});
