// npm run verify -- URL [--sample N] [--dist DIR]: whether a hosting serves what was built (docs/hosting.md).
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { progress } from "./lib/progress.ts";
import { runCommand } from "./lib/request.ts";
import { listBuild, sample, verifyHosting } from "./lib/verify.ts";

const usage = `npm run verify -- URL [--sample N] [--dist DIR]

  URL          address of the service with its base path, such as https://fragments.example
  --sample N   look at N fragments only, spread over all
  --dist DIR   the build to compare with (dist)`;

const options = {
	sample: { type: "string" },
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

async function verify(address: string, dist: string, most: number | null): Promise<number> {
	const all = await listBuild(dist);
	const paths = most === null ? all : sample(all, most);
	const bar = progress(paths.length, "verifying");
	const differences = await verifyHosting(address, dist, paths, () => bar.tick()).finally(() => bar.stop());
	for (const difference of differences) console.error(difference);
	const looked = `${paths.length} of ${all.length} fragments`;
	console.log(
		`${looked} looked at: ${differences.length === 0 ? "all as built" : `${differences.length} differ`}`,
	);
	return differences.length === 0 ? 0 : 1;
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
	if (values.sample !== undefined && !/^[1-9]\d{0,8}$/.test(values.sample)) {
		throw new Error(`--sample: must be a whole number from 1, not ${values.sample}`);
	}
	const most = values.sample === undefined ? null : Number(values.sample);
	return verify(address.replace(/\/+$/, ""), resolve(values.dist ?? "dist"), most);
});
