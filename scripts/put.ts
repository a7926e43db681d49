// npm run put: registers a layer at a service
import { readFile } from "node:fs/promises";
import { printDraft } from "./put/draft.ts";
import { printPreview } from "./put/preview.ts";
import { createRequestLine, sendRequest, signRequest } from "./put/request.ts";
import { readConfiguration, withoutStore } from "./service/settings.ts";
import { createRun, exitCodes, runCommand } from "./terminal/command-line.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createRequestLine("put", io)
		.argument("<file>", "the registration")
		.option("--dry-run", "only check it, and show what viewers would read; nothing is signed or sent")
		.parse(argv, { from: "user" });
	const [smallkey, file] = line.processedArgs;
	const { dryRun, ...options } = line.opts();
	const body = await readFile(file);
	const send = async () => {
		if (dryRun)
			return printPreview({ smallkey, file, body }, readConfiguration(withoutStore(environment)), io);
		return sendRequest(await signRequest({ ...options, method: "PUT", smallkey, body }, environment, io), io);
	};
	const code = await send();
	if (code === exitCodes.wrong) await printDraft({ smallkey, body }, environment, io);
	return code;
});

await runCommand(import.meta.url, run);
