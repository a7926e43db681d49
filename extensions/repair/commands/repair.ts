// npx fragment-publisher repair
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readConfiguration } from "../../../api/service/settings.ts";
import { resolveCommit } from "../../../publish/collect.ts";
import { healthPath } from "../../../registry/smallkey.ts";
import { counted, plain } from "../../../registry/untrusted.ts";
import { createRun } from "../../../scripts/terminal/command-line.ts";
import { parseHealth } from "../../../site/data/health.ts";
import { readTextIfThere, replaceFile } from "../../../store/files/files.ts";
import { gitText, runGit } from "../../../store/git/commands/run.ts";
import { createAsk } from "../../harvest/ask.ts";
import { readLayers } from "../../harvest/harvester/layers.ts";
import { healthText, markRepairs, weekOf } from "../../harvest/health.ts";
import { readHarvest } from "../../harvest/index.ts";
import { createFetch } from "../../harvest/net/fetch.ts";
import { findRepository, readHealth, servedRef } from "../../harvest/repository.ts";
import { messageOf, type OpenRepair, readOpen } from "../proposal-branches.ts";
import { runRepair } from "../run.ts";

const maxOpen = 20;

async function readHealthBefore(repository: string, base: string, day: string) {
	const words = ["rev-list", "-1", "--first-parent", `--before=${day}T00:00:00Z`, base];
	const commit = await gitText(repository, words);
	return commit === "" ? null : readHealth(repository, commit);
}

/** @param before null if the checkout has no health */
async function noteRepairs(before: string | null, open: readonly OpenRepair[], now: Date) {
	const proposed = new Set(open.flatMap(({ smallkeys }) => smallkeys));
	const text = healthText(markRepairs(parseHealth(before), proposed, weekOf(now)));
	if (text === before) return;
	if (text === null) await rm(healthPath, { force: true });
	else await replaceFile(healthPath, text);
}

type Outcome = Awaited<ReturnType<typeof runRepair>>;

async function writeRequests(
	out: string,
	{ proposed, withdrawn }: Outcome,
	repository: string,
	base: string,
) {
	for (const proposal of proposed) {
		const folder = join(out, proposal.branch);
		await mkdir(folder, { recursive: true });
		const words = ["diff", "--binary", base, `refs/heads/${proposal.branch}`];
		await writeFile(join(folder, "repair.patch"), await runGit(repository, words));
		// GitHub interprets words in a commit's message as commands, such as those that close an issue.
		await writeFile(join(folder, "message.txt"), messageOf(proposal));
		await writeFile(join(folder, "text.md"), `${proposal.markdown}\n`);
	}
	await mkdir(out, { recursive: true });
	await writeFile(join(out, "withdrawn.txt"), withdrawn.map((branch) => `${branch}\n`).join(""));
}

export const run = createRun(async ({ read, environment, io }) => {
	const [{ out }] = await read((line) =>
		line.option(
			"--out <dir>",
			"for this checkout and its layers/health.json: write there what pull requests need",
		),
	);
	const configuration = readConfiguration(environment, readHarvest);
	const { network, harvest, dataDir, mapWkid } = configuration;
	if (!harvest.on || !harvest.repair)
		return void io.print(`${harvest.on ? "REPAIR" : "HARVEST"}=off: no service is looked for`);
	const now = io.now();
	const checkout = { path: resolve("."), name: "this checkout" };
	const { path: repository, name } = out ? checkout : await findRepository(dataDir);
	const base = await resolveCommit(repository, out ? "HEAD" : servedRef);
	io.warn(plain(`Looking for the services of sick layers of ${name}`));
	const health = out
		? await readTextIfThere(healthPath)
		: await readHealthBefore(repository, base, now.toISOString().slice(0, 10));
	const outcome = await runRepair({
		connect: (onRequest) => {
			const fetch = createFetch({ ...network, onRequest });
			return { fetch, ask: createAsk({ fetch }) };
		},
		repository,
		base,
		mapWkid,
		maxOpen,
		layers: await readLayers({ repository, ref: base }, io),
		health: parseHealth(health),
		now,
	});
	const { checked, proposed, withdrawn } = outcome;
	for (const { subject, branch } of proposed) io.print(plain(`${branch}: ${subject}`));
	for (const branch of withdrawn) io.print(plain(`${branch}: withdrawn, since it is of no use any more`));
	io.print(`${counted(checked, "sick layer")} checked, ${counted(proposed.length, "repair")} proposed`);
	if (out === undefined) return;
	await noteRepairs(health, await readOpen(repository, base), now);
	await writeRequests(out, outcome, repository, base);
});
