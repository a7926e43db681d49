// npm run sender -- add <id>: a sender with a random secret, in the senders file of DATA_DIR
import { readFile } from "node:fs/promises";
import { isSenderId, parseSenders } from "../api/senders.ts";
import {
	randomSecret,
	readConfiguration,
	readSenders,
	sendersPath,
	writeSenders,
} from "./service/settings.ts";
import { createCommandLine, createRun, exitCodes, runCommand, WrongError } from "./terminal/command-line.ts";
import { printLine } from "./terminal/io.ts";

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("sender", io)
		.argument("<add>")
		.argument("<id>")
		.parse(argv, { from: "user" });
	const [verb, id] = line.processedArgs;
	if (verb !== "add") throw new Error(`${verb}: must be add`);
	if (!isSenderId(id)) throw new Error(`${JSON.stringify(id)}: an id must be 1 to 64 of A-Z a-z 0-9 . _ -`);
	const { dataDir } = readConfiguration(environment);
	await readSenders({}, dataDir);
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8");
	if (parseSenders(text, place).has(id)) throw new WrongError(`${place}: already has a sender ${id}`);
	const entries = [...Object.entries(JSON.parse(text)), [id, randomSecret()]];
	await writeSenders(dataDir, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
	printLine(io, `${id} is in ${place} with a random secret; a running service knows it after a restart`);
	return exitCodes.done;
});

await runCommand(import.meta.url, run);
