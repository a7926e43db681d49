// npx fragments refresh: proposes what npx fragments harvest wrote, with the health of all services

import { readIfThere, readTextIfThere } from "../files/if-there.ts";
import { healthPath, healthText, parseHealth, updateHealth, weekOf } from "../registry/health.ts";
import { ownersPath, parseOwners } from "../registry/owners.ts";
import { type LayerHealth, refreshBody } from "../review/refresh/body.ts";
import { newDescriptions } from "../review/refresh/descriptions.ts";
import { findRefresh, proposeRefresh, readHealthText, type Target } from "../review/refresh/propose.ts";
import { connectToGithub } from "../service/github.ts";
import { askWith } from "../service/harvester/ask.ts";
import { readLayers } from "../service/harvester/layers.ts";
import { statesOf, watchAll } from "../service/harvester/watch.ts";
import { type Configuration, readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printLine } from "../terminal/io.ts";

const help = `
Asks the services behind all layers, and opens one pull request, or brings the open one up to date: the service
descriptions that npx fragments harvest has written into layers/ since the last commit, and the health of the services.`;

function targetOf(configuration: Configuration): Target {
	const github = connectToGithub(configuration, { contents: "write", pull_requests: "write" });
	return { github, branch: configuration.github?.branch ?? "main" };
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
	const layers = await watchAll(
		await readLayers({ folder: "layers" }, [], io),
		askWith(configuration.harvest),
	);
	const before = target
		? await readHealthText(target, (await findRefresh(target)) !== null)
		: await readTextIfThere(healthPath);
	const now = io.now();
	const states = statesOf(layers);
	const week = weekOf(now);
	const health = updateHealth(parseHealth(before), states, week, (smallkey) => states.has(smallkey));
	const owners = parseOwners((await readIfThere(ownersPath)) ?? new Uint8Array(0)).owners;
	const found = layers.map(({ layer: { smallkey }, watched }): LayerHealth => {
		return { smallkey, findings: watched.findings, changed: changed.has(smallkey) };
	});
	const body = refreshBody(found, { health, week }, owners);
	if (!target) {
		printLine(io, body);
		return exitCodes.done;
	}
	const address = await proposeRefresh(target, { descriptions, health: healthText(health), body }, now);
	printLine(io, address ? `pull request ${address}` : "nothing to merge");
	return exitCodes.done;
});
