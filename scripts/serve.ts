// npm start: the service on this machine
import { once } from "node:events";
import { TokenBuckets } from "../api/limits.ts";
import { createNodeServer } from "../api/node/serve.ts";
import { versionLine } from "../files/version.ts";
import { openService } from "../service/composition.ts";
import { makeDataDir } from "../service/data-dir.ts";
import { followSenders } from "../service/follow-senders.ts";
import { listen } from "../service/listen.ts";
import { lockFolder } from "../service/lock.ts";
import { ReadCount, serviceLog } from "../service/log.ts";
import type { Metrics } from "../service/metrics/metrics.ts";
import { type MetricsServer, serveMetrics } from "../service/metrics/server.ts";
import { countExamples } from "../service/open-store.ts";
import { readSenders } from "../service/senders-file.ts";
import type { Service } from "../service/service.ts";
import { type Configuration, misspeltSettings, readConfiguration } from "../service/settings.ts";
import { welcome } from "../service/welcome.ts";
import { createCommandLine, createRun, exitCodes } from "../terminal/command-line.ts";
import { type Io, printError, printLine } from "../terminal/io.ts";

/** Imported on demand, to save memory. */
async function openMetrics(): Promise<Metrics> {
	const { Metrics } = await import("../service/metrics/metrics.ts");
	return new Metrics();
}

async function listenForMetrics(
	metrics: Metrics,
	{ gauges }: Service,
	{ metrics: place, dataDir }: Configuration,
): Promise<MetricsServer | null> {
	if (!place) return null;
	const { type } = metrics;
	const text = () => metrics.text({ dataDir, gauges });
	return serveMetrics({ ...place, type, text, log: serviceLog });
}

/** Serves until the first interruption, and still answers the requests that were accepted. */
async function serve(
	service: Service,
	configuration: Configuration,
	started: (url: string) => void,
	io: Io,
	metrics: Metrics | null,
): Promise<void> {
	const interrupted = io.interrupted();
	const reads = new ReadCount();
	const { server, end } = createNodeServer({
		context: { ...service.context, limiter: new TokenBuckets(configuration.writes, service.context.now) },
		trustedProxies: configuration.trustedProxies,
		fragments: service.fragments,
		version: service.version,
		pages: service.pages ?? undefined,
		log: serviceLog.info,
		allReads: configuration.logReads,
		count: () => reads.add(),
		measure: metrics?.answer,
	});
	try {
		started(await listen(server, configuration, "PORT, HOST", ". Set others; PORT=0 is any free port"));
		if (!interrupted.aborted) await once(interrupted, "abort");
		printError(io, "Ending: what was accepted is answered and stored first. Once more ends it at once.");
		await end();
	} finally {
		reads.end();
	}
}

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
		const metrics = configuration.metrics && (await openMetrics());
		const following =
			configured.place === "SENDERS" ? null : followSenders(configured.place, senders, serviceLog);
		const service = await openService(configuration, senders, {
			measures: metrics,
			sendersState: following?.state,
		});
		try {
			const metricsServer = metrics && (await listenForMetrics(metrics, service, configuration));
			const started = (url: string) => {
				const has = configuration.isTrial ? service.has : null;
				const started = {
					url,
					layers: service.layers(),
					layersPlace: service.place,
					examples: has ? countExamples(has) : { served: 0, lacking: 0 },
					senders: configured,
					configuration,
					metrics: metricsServer?.url ?? null,
				};
				printLine(io, welcome(started));
			};
			await serve(service, configuration, started, io, metrics).finally(() => metricsServer?.close());
		} finally {
			following?.end();
			await service.close();
		}
	} finally {
		await lock.release();
	}
	return exitCodes.done;
});
