// npx fragments put: registers a layer at a service
import { readFile } from "node:fs/promises";
import { printDraft, printPreview } from "../publisher/preview.ts";
import { createRequestLine, sendRequest, signRequest } from "../publisher/request.ts";
import { waitForHarvest } from "../review/status.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createRun, exitCodes, parseCount } from "../terminal/command-line.ts";

/** The default wait for the harvest. */
const defaultWaitSeconds = 120;

export const run = createRun(async (argv, environment, io) => {
	const line = createRequestLine("put", io)
		.argument("<file>", "the registration")
		.option("--dry-run", "only check it, and show what viewers would read; nothing is signed or sent")
		.option(
			"--wait [seconds]",
			"then wait until its services were asked, and print how the layer is (120)",
			parseCount,
		)
		.parse(argv, { from: "user" });
	const [smallkey, file] = line.processedArgs;
	const { dryRun, wait, ...options } = line.opts();
	const body = await readFile(file);
	const send = async () => {
		if (dryRun)
			return printPreview({ smallkey, file, body }, readConfiguration(withoutStore(environment)), io);
		return sendRequest(await signRequest({ ...options, method: "PUT", smallkey, body }, environment, io), io);
	};
	const code = await send();
	if (code === exitCodes.done && wait && !dryRun) {
		const seconds = wait === true ? defaultWaitSeconds : wait;
		return waitForHarvest({ url: options.url, smallkey }, seconds, io);
	}
	if (code === exitCodes.wrong) await printDraft({ smallkey, body }, environment, io);
	return code;
});
