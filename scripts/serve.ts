import { once } from "node:events";
import { TokenBuckets } from "../api/limits.ts";
import { createNodeServer } from "../api/node/serve.ts";
import { closeAll, openLocal } from "../api/service/composition.ts";
import { makeDataDir, refuseEmptyStart, refuseForeignRoot } from "../api/service/data-dir.ts";
import { listen, welcome } from "../api/service/listen.ts";
import { lockFolder } from "../api/service/lock.ts";
import { countReads, serviceLog } from "../api/service/log.ts";
import { followSenders, readSenders, warnOfReaders } from "../api/service/senders-file.ts";
import { misspeltSettings, readConfiguration } from "../api/service/settings.ts";
import { versionLine } from "../store/files/version.ts";
import { createRun } from "./terminal/command-line.ts";

export const run = createRun("serve", async ({ read, environment, io, extensions }) => {
	await read((line) =>
		line
			.version(versionLine(), "--version", "print the version and its commit")
			.addHelpText("after", "\nEnvironment variables configure it: docs/settings.md."),
	);
	const readers = extensions.flatMap(({ settings }) => settings ?? []);
	const configuration = readConfiguration(environment, ...readers);
	for (const line of misspeltSettings(environment, readers)) io.warn(line);
	const { dataDir } = configuration;
	await makeDataDir(dataDir);
	await refuseForeignRoot(dataDir);
	// Before anything is made in the folder: a restore needs an empty one.
	if (!configuration.github) await refuseEmptyStart(configuration);
	const lock = await lockFolder(dataDir, { waiting: io.warn });
	const closing: (() => unknown)[] = [lock.release];
	try {
		const configured = await readSenders(environment, dataDir);
		const warning = warnOfReaders(configured.place);
		if (warning) io.warn(warning);
		const senders = new Map(configured.senders);
		const { github } = configuration;
		const following =
			configured.place === "SENDERS" ? null : followSenders(configured.place, senders, serviceLog);
		// Imported on demand, to save memory.
		const open = github
			? (await import("../api/service/github-composition.ts")).openGithubService
			: openLocal;
		const service = await open(configuration, senders, { extensions, sendersState: following?.state });
		closing.push(service.close, () => following?.end());
		const { context, file, observe } = service;
		const interrupted = io.interrupted();
		const reads = countReads();
		closing.push(reads.end);
		const { server, end } = createNodeServer({
			context: { ...context, limiter: new TokenBuckets(configuration.writes, context.now) },
			trustedProxies: configuration.trustedProxies,
			file,
			log: serviceLog.info,
			allReads: configuration.logReads,
			count: reads.add,
			measure: (route, status, milliseconds, reason) =>
				observe({ kind: "answer", route, status, milliseconds, reason }),
		});
		const url = await listen(server, configuration, "PORT, HOST", ". Set others; PORT=0 is any free port");
		io.print(welcome({ url, service, senders: configured, configuration }));
		// Accepted requests are still answered after an interruption.
		if (!interrupted.aborted) await once(interrupted, "abort");
		io.warn("Ending: what was accepted is answered and stored first. Once more ends it at once.");
		await end();
	} finally {
		await closeAll(closing);
	}
});
