// npx fragments headers: prints the configuration with which a static host serves a build as the service does
import { resolve } from "node:path";
import { Argument } from "commander";
import { type StaticHostName, staticHosts } from "../hosting/headers.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseCount } from "../terminal/command-line.ts";
import { printError } from "../terminal/io.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("headers", io)
		.addArgument(new Argument("<host>", "which").choices(Object.keys(staticHosts)))
		.option("--root <dir>", "the folder of the build", "dist")
		.option("--port <number>", "where it listens", parseCount, 80)
		.parse(argv, { from: "user" });
	const { root, port } = line.opts();
	const host = line.args[0] as StaticHostName;
	const { targets } = readConfiguration(withoutStore(environment));
	printError(io, `The configuration of ${host} for ${resolve(root)}`);
	io.stdout.write(staticHosts[host]({ targets, root: resolve(root), port }));
	return exitCodes.done;
});
