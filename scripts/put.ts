// npm run put: registers a layer at a service
import { readFile } from "node:fs/promises";
import { createRequestLine, sendRequest, signRequest } from "./put/request.ts";
import { createRun, runCommand } from "./terminal/command-line.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createRequestLine("put", io)
		.argument("<file>", "the registration")
		.parse(argv, { from: "user" });
	const [smallkey, file] = line.processedArgs;
	const request = { ...line.opts(), method: "PUT", smallkey, body: await readFile(file) };
	return sendRequest(await signRequest(request, environment, io.now()), io);
});

await runCommand(import.meta.url, run);
