// npm run refresh: proposes what npm run harvest has written, with the health of all services

import { readFile } from "node:fs/promises";
import pMap from "p-map";
import { createCheckLayer } from "../harvest/check-layer.ts";
import type { CheckedLayer } from "../registry/catalogue.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import { askWith } from "./harvest/ask.ts";
import { layersAtOnce, readLayers } from "./harvest/layers.ts";
import { type LayerHealth, refreshBody } from "./refresh/body.ts";
import { newDescriptions } from "./refresh/descriptions.ts";
import { countWeek, healthPath, healthText, parseHealth, weekOf } from "./refresh/health.ts";
import { findRefresh, proposeRefresh, readHealthText, type Target } from "./refresh/propose.ts";
import { connectToGithub } from "./service/github.ts";
import { type Configuration, readConfiguration, withoutStore } from "./service/settings.ts";
import { createCommandLine, createRun, exitCodes, runCommand } from "./terminal/command-line.ts";
import { printLine } from "./terminal/io.ts";
import { progress } from "./terminal/progress.ts";

const help = `
Asks the services behind all layers, and opens one pull request, or brings the open one up to date: the service
descriptions that npm run harvest has written into layers/ since the last commit, and the health of the services.`;

function targetOf(configuration: Configuration): Target {
	const github = connectToGithub(configuration);
	return { github, branch: configuration.github?.branch ?? "main" };
}

/** Asks the services of all layers. */
async function checkAll(
	layers: CheckedLayer[],
	changed: ReadonlySet<string>,
	configuration: Configuration,
): Promise<LayerHealth[]> {
	const check = createCheckLayer(askWith(configuration.harvest));
	const bar = progress(layers.length, "asking services");
	return pMap(
		layers,
		async ({ smallkey, registration }) => {
			const { findings } = await check(smallkey, registration);
			bar.tick();
			return { smallkey, findings, changed: changed.has(smallkey) };
		},
		{ concurrency: layersAtOnce },
	).finally(() => bar.stop());
}

async function readLocal(path: string): Promise<Buffer | null> {
	return readFile(path).catch(() => null);
}

export const run = createRun(async (argv, environment, io) => {
	const { dryRun } = createCommandLine("refresh", io)
		.option("--dry-run", "print the pull request's text, and write nothing; needs no GitHub")
		.addHelpText("after", help)
		.parse(argv, { from: "user" })
		.opts();
	const configuration = readConfiguration(dryRun ? withoutStore(environment) : environment);
	const target = dryRun ? null : targetOf(configuration);
	const descriptions = await newDescriptions(".");
	const changed = new Set(descriptions.map(({ smallkey }) => smallkey));
	const layers = await checkAll(await readLayers("layers", [], io), changed, configuration);
	const failing = layers.filter(({ findings }) => findings.some(({ kind }) => kind === "server"));
	const before = target
		? await readHealthText(target, (await findRefresh(target)) !== null)
		: ((await readLocal(healthPath))?.toString("utf8") ?? null);
	const now = io.now();
	const keys = failing.map(({ smallkey }) => smallkey);
	const health = countWeek(parseHealth(before), keys, weekOf(now));
	const owners = parseOwners((await readLocal(ownersPath)) ?? new Uint8Array(0)).owners;
	const body = refreshBody(layers, health, owners);
	if (!target) {
		printLine(io, body);
		return exitCodes.done;
	}
	const address = await proposeRefresh(target, { descriptions, health: healthText(health), body }, now);
	printLine(io, address ? `pull request ${address}` : "nothing to merge");
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
