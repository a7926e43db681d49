import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createWriteLimit } from "../api/limits.ts";
import { logAnswer, serviceLog } from "../api/node/log.ts";
import { createNodeServer, listen } from "../api/node/serve.ts";
import { closeAll, openLocal, type Service } from "../api/service/composition.ts";
import { openDataDir, repositoryPath } from "../api/service/data-dir.ts";
import { firstSender, followSenders, readSenders, warnOfReaders } from "../api/service/senders-file.ts";
import { type Configuration, readConfiguration, unknownSettings } from "../api/service/settings.ts";
import { counted } from "../registry/untrusted.ts";
import { createRun } from "./terminal/command-line.ts";

export const serve = createRun(async ({ read, environment, io, extensions }) => {
	await read((line) => line.addHelpText("after", "\nEnvironment variables configure it: docs/settings.md."));
	const readers = extensions.flatMap(({ settings }) => settings ?? []);
	const configuration = readConfiguration(environment, ...readers);
	const unknown = unknownSettings(environment, process.cwd(), readers);
	if (unknown.length > 0) io.warn(`no settings: ${unknown.join(" ")} (docs/settings.md has all)`);
	const { dataDir } = configuration;
	const lock = await openDataDir(configuration, { waiting: io.warn });
	const closing: (() => unknown)[] = [lock.release];
	try {
		const hasLayers = existsSync(repositoryPath(dataDir));
		const configured = await readSenders(environment, dataDir);
		if (configured.created && hasLayers)
			io.warn(`${configured.place}: was not there, and is new: if it was lost, restore it from the backup`);
		const warning = warnOfReaders(configured.place);
		if (warning) io.warn(warning);
		const senders = new Map(configured.senders);
		const following =
			configured.place === "SENDERS" ? null : followSenders(configured.place, senders, serviceLog);
		// On demand, to save memory.
		const open = configuration.github
			? (await import("../api/service/github-composition.ts")).openGithubService
			: openLocal;
		const service = await open(configuration, senders, { extensions, sendersState: following?.state });
		closing.push(service.close, () => following?.end());
		const { context, file, observe } = service;
		const interrupted = io.interrupted();
		const { server, end } = createNodeServer({
			context: { ...context, limitWrites: createWriteLimit(configuration.writesPerMinute) },
			trustedProxies: configuration.trustedProxies,
			file,
			logReads: configuration.logReads,
			observe: (event) => {
				logAnswer(event);
				observe(event);
			},
		});
		const url = await listen(server, configuration, "PORT, HOST", ". Set others; PORT=0 is any free port");
		io.print(welcome(url, service, configured, configuration));
		if (!interrupted.aborted) await once(interrupted, "abort");
		io.warn("Ending: what was accepted is answered and stored first. Once more ends it at once.");
		await end();
	} catch (error) {
		await closeAll(closing).catch(serviceLog.error);
		throw error;
	}
	await closeAll(closing);
});

/** From another folder, npx would ask the registry for a package of that name. */
const checkout = fileURLToPath(new URL("..", import.meta.url)).slice(0, -1);

function shellWord(text: string): string {
	return /^[A-Za-z0-9/._-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function welcome(
	url: string,
	service: Pick<Service, "place"> & { layers: () => number | null },
	{ senders, place, created }: Awaited<ReturnType<typeof readSenders>>,
	{ basePath, dataDir, isTrial }: Configuration,
): string {
	const layers = service.layers();
	const base = `${url}${basePath}`;
	const what = layers === null ? "" : ` ${counted(layers, "layer")}`;
	const lines = [`Serving${what} at ${base}`, `Layers: ${service.place}`];
	const [first] = senders.keys();
	if (first === undefined)
		return [...lines, `Senders: none in ${place}, so no one can publish`, ""].join("\n");
	lines.push(`Senders: ${place}${created ? `, created now with the sender ${created}` : ""}`, "");
	const isInFile = place !== "SENDERS";
	// Another sender may be a publisher elsewhere.
	const id = isInFile ? firstSender : first;
	if ((layers !== 0 && !isTrial) || !senders.has(id)) return lines.join("\n");
	const isHere = process.cwd() === checkout;
	const needsFolder = isInFile && !(isTrial && isHere);
	const command = `${needsFolder ? `DATA_DIR=${shellWord(dataDir)} ` : ""}npx fragment-publisher`;
	const put = `${command} put my-layer docs/example-layer.json --url ${base} --sender ${id}`;
	lines.push(`Register a first layer, and read it back${isHere ? "" : `, in ${checkout}`}:`, "");
	lines.push(`  ${put} && curl ${base}/v0.9/doc/en/my-layer`, "");
	if (isInFile)
		lines.push("The sender's secret, for curl:", "", `  ${command} sender show ${id} --secret`, "");
	return lines.join("\n");
}
