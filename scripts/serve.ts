// npm start: runs the service on this machine
import { once } from "node:events";
import { TokenBuckets } from "../api/limits.ts";
import { createNodeServer } from "../api/node/serve.ts";
import { versionLine } from "../files/version.ts";
import { openService } from "../service/composition.ts";
import { lockFolder, makeDataDir } from "../service/data-dir.ts";
import { listen, welcome } from "../service/listen.ts";
import { countReads, serviceLog } from "../service/log.ts";
import type { Metrics } from "../service/metrics.ts";
import { followSenders, readSenders } from "../service/senders-file.ts";
import { misspeltSettings, readConfiguration } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";

export const run = createRun(async (argv, environment, io) => {
	createCommandLine("serve", io)
		.version(versionLine(), "--version", "print the version and its commit")
		.addHelpText("after", "\nEnvironment variables configure it: docs/settings.md.")
		.parse(argv, { from: "user" });
	const configuration = readConfiguration(environment);
	for (const line of misspeltSettings(environment)) printError(io, line);
	const { dataDir } = configuration;
	await makeDataDir(dataDir);
	const lock = await lockFolder(dataDir, { waiting: (line) => printError(io, line) });
	try {
		const configured = await readSenders(environment, dataDir);
		const senders = new Map(configured.senders);
		// Imported on demand, to save memory.
		const metrics = configuration.metrics && (await import("../service/metrics.ts")).createMetrics();
		const following =
			configured.place === "SENDERS" ? null : followSenders(configured.place, senders, serviceLog);
		const service = await openService(configuration, senders, {
			metrics,
			sendersState: following?.state,
		});
		const { context, fragments, version, gauges } = service;
		const interrupted = io.interrupted();
		const reads = countReads();
		let metricsServer: Awaited<ReturnType<Metrics["serve"]>> | null = null;
		try {
			if (configuration.metrics && metrics) {
				metricsServer = await metrics.serve(configuration.metrics, dataDir, gauges, serviceLog);
			}
			const { server, end } = createNodeServer({
				context: { ...context, limiter: new TokenBuckets(configuration.writes, context.now) },
				trustedProxies: configuration.trustedProxies,
				fragments,
				version,
				pages: service.pages ?? undefined,
				log: serviceLog.info,
				allReads: configuration.logReads,
				count: reads.add,
				measure: metrics?.answer,
			});
			const url = await listen(server, configuration, "PORT, HOST", ". Set others; PORT=0 is any free port");
			const metricsUrl = metricsServer?.url ?? null;
			printLine(io, welcome({ url, service, senders: configured, configuration, metrics: metricsUrl }));
			// Waits for the first interruption. Requests that were accepted are still answered.
			if (!interrupted.aborted) await once(interrupted, "abort");
			printError(io, "Ending: what was accepted is answered and stored first. Once more ends it at once.");
			await end();
		} finally {
			reads.end();
			await metricsServer?.close();
			following?.end();
			await service.close();
		}
	} finally {
		await lock.release();
	}
	return exitCodes.done;
});
